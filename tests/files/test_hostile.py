"""Files that were made to do harm cost one file, and never the program that reads them."""

from __future__ import annotations

import gzip
import io
import os
import random
import shutil
import signal
import struct
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

import fuzzed_files
import lookalike as la
import made_files
from fuzzed_files import Fuzzer
from lookalike.files import Limits, processes
from lookalike.files.archives import safe_name
from lookalike.files.extracting import _Extractor, extract
from lookalike.files.limits import Budget

SMALL = Limits(seconds=20)


def read(data: bytes, name: str = "a", limits: Limits = SMALL) -> la.FileText:
    """In this process, where a test can see what happens."""
    return extract(io.BytesIO(data), name, limits, len(data))[0]


def docx_with(document: bytes, **more: bytes) -> bytes:
    return made_files.zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": document, **more})


def test_a_bomb_in_a_document(tmp_path: Path) -> None:
    """0.1 MB that unpack to 100 MB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w") as part:
            part.write(b"<w:document><w:p><w:r><w:t>")
            for _ in range(100):
                part.write(b" " * (1 << 20))
            part.write(b"</w:t></w:r></w:p></w:document>")
    assert len(out.getvalue()) < 150_000
    path = tmp_path / "bomb.docx"
    path.write_bytes(out.getvalue())
    found = la.read(path)
    assert (found.status, found.kind, found.text) == ("too large", "docx", "")
    assert "unpacks to more than" in found.notes[0]
    assert la.ssdeep(path).value is not None


def test_two_cells_in_far_corners_of_a_sheet(tmp_path: Path) -> None:
    """The library makes room for all cells between them, is refused, and ends the process: the file is too large, and it is said why."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "near", "far"  # type: ignore[index]  # a new book has a sheet
    path = tmp_path / "far.xlsx"
    book.save(path)
    found = la.read(path)
    assert found.status == "too large"
    assert found.notes[0].startswith("it takes more than 1024 MiB: its reader asked for ")
    assert la.ssdeep(path).value is not None


def test_a_reader_that_is_killed_is_named_with_the_signal(tmp_path: Path) -> None:
    process = processes.Process(SMALL.memory)
    process._process.send_signal(signal.SIGSEGV)
    process._process.wait(10)
    found = process.read("a.pdf", None, b"%PDF-1.4", SMALL, False)[0]
    assert found.status == "too large"
    assert "(SIGSEGV)" in found.notes[0]


def test_what_a_library_prints_stops_no_reader(tmp_path: Path) -> None:
    """Nobody reads what a reader writes to its standard error while it lives: a full pipe must not make it wait."""
    process = processes.Process(SMALL.memory)
    try:
        assert process.read("a.txt", None, b"hello there", SMALL, False)[0].text == "hello there"
        stderr = f"/proc/{process._process.pid}/fd/2"
        assert os.readlink(stderr).startswith("pipe:")
        flags = Path(f"/proc/{process._process.pid}/fdinfo/2").read_text()
        assert int(flags.split("flags:")[1].split()[0], 8) & os.O_NONBLOCK
    finally:
        process.stop()


def test_entities_are_refused() -> None:
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><w:document><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>'
    found = read(docx_with(laughs))
    assert (found.status, found.text) == ("broken", "")
    assert "declares entities" in found.notes[0]
    outside = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document><w:t>&a;</w:t></w:document>'
    assert read(docx_with(outside)).status == "broken"
    foreign = b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><w:document><w:p><w:r><w:t>plain</w:t></w:r></w:p></w:document>'
    assert read(docx_with(foreign)).text == "plain\n"


def test_nesting_entries_pages_and_characters() -> None:
    data = b"deep"
    for level in range(8):
        data = made_files.zipped({f"{level}.zip" if level else "a.txt": data})
    found = read(data)
    assert "deep" not in found.text
    assert any("archives or mails deep" in note for note in found.notes)
    boundaries = b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (number, number) for number in range(2000))
    mail = read(b"From: a\nMIME-Version: 1.0\n" + boundaries)
    assert (mail.status, mail.notes) == ("too large", ("its parts lie deeper in each other than can be read",))
    many = made_files.zipped({f"{number}.txt": b"x" for number in range(50)})
    assert read(many, limits=Limits(entries=20)).status == "too large"
    assert read(made_files.made("pptx"), limits=Limits(pages=2)).status == "too large"
    assert read(b"a" * 1000, limits=Limits(characters=500)).status == "too large"
    assert read(b"a" * 1000, limits=Limits(document=500)).status == "too large"
    assert read(gzip.compress(bytes(1 << 20)), limits=Limits(inflated=1 << 19)).status == "too large"


def test_a_bomb_hides_nothing_that_comes_before_it() -> None:
    archive = made_files.zipped({"a.txt": b"seen before", "b.gz": gzip.compress(bytes(32 << 20), 1)})
    found = read(archive)
    assert (found.status, "seen before" in found.text) == ("too large", True)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e10, "1"])
def test_seconds_that_nobody_can_wait(seconds: Any) -> None:
    with pytest.raises(la.InputError, match=r"limits: seconds=.* give a number above 0 and below 1e9"):
        Limits(seconds=seconds)
    assert read(b"a text", limits=Limits(seconds=9e8)).text == "a text"


@pytest.mark.parametrize("memory", [0, 1 << 62, 1.5, True])
def test_other_limits_are_whole_numbers(memory: Any) -> None:
    with pytest.raises(la.InputError, match=r"limits: memory=.* give a whole number above 0 and below 2\*\*62"):
        Limits(memory=memory)


@pytest.mark.parametrize(("kind", "begin"), [("rar", b"Rar!\x1a\x07\x01\x00"), ("7z", b"7z\xbc\xaf\x27\x1c")])
def test_archives_that_are_not_read_say_what_to_do(tmp_path: Path, kind: str, begin: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(made_files.zipped({f"a.{kind}": begin + bytes(300), "b.txt": b"a text"}))
    (said,) = la.read(path).notes
    assert said == f"a.{kind}: {kind} archives are not read: unpack it, or pack it anew as a ZIP file"
    member = la.read_members(path)[0]
    assert (member.kind, member.status, member.data is not None) == (kind, "unsupported", True)
    with la.open("memory://") as index:
        assert index.add(path).added == 2


def test_time(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(0, 100_000, 10))
    monkeypatch.setattr("lookalike.files.limits.time.monotonic", lambda: next(moments))
    assert read(made_files.made("pptx"), limits=Limits(seconds=15)).status == "too slow"


def test_paths_and_links_lead_nowhere(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind, target in (
            ("link", tarfile.SYMTYPE, "/etc/passwd"),
            ("hard", tarfile.LNKTYPE, "../../x"),
            ("pipe", tarfile.FIFOTYPE, ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info)
        info = tarfile.TarInfo("../../../etc/cron.d/job")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"text"))
    path = tmp_path / "a.tar"
    path.write_bytes(out.getvalue())
    before = sorted(tmp_path.rglob("*"))
    found = la.read_members(path)
    assert [each.name for each in found if each.data is not None] == ["etc/cron.d/job"]
    assert {note for each in found for note in each.notes} == {
        "link: a link, not followed",
        "hard: a link, not followed",
        "pipe: no file, not followed",
    }
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "safe"),
    [("../../a", "a"), ("/etc/passwd", "etc/passwd"), ("C:\\x\\..\\y", "x/y"), ("..", "unnamed"), ("a\0b", "ab"), ("//a//b", "a/b")],
)
def test_safe_names(name: str, safe: str) -> None:
    assert safe_name(name) == safe


class TestProcess:
    """The process that reads."""

    def test_it_dies_and_the_next_file_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "a.docx"
        path.write_bytes(made_files.made("docx"))
        assert la.read(path).ok
        for process in processes._idle:
            os.kill(process._process.pid, signal.SIGKILL)
        assert la.read(path).ok

    def test_it_is_killed_in_the_middle(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "a.docx"
        path.write_bytes(made_files.made("docx"))
        send = processes.Process._send

        def killed(self: processes.Process, pieces: object, until: float) -> None:
            send(self, pieces, until)  # type: ignore[arg-type]
            self._process.kill()
            self._process.wait()

        stopped = processes.Process(Limits().memory)
        os.kill(stopped._process.pid, signal.SIGSTOP)  # so that it cannot answer before it is killed
        monkeypatch.setattr(processes, "_idle", [stopped])
        monkeypatch.setattr(processes.Process, "_send", killed)
        found = la.read(path)
        assert (found.status, found.text) == ("too large", "")
        monkeypatch.undo()
        assert la.read(path).ok

    def test_it_hangs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "a.docx"
        path.write_bytes(made_files.made("docx"))
        stopped = processes.Process(Limits().memory)
        os.kill(stopped._process.pid, signal.SIGSTOP)
        stopped.files = 1  # it has started
        monkeypatch.setattr(processes, "_idle", [stopped])
        monkeypatch.setattr(processes, "GRACE", 0.2)
        begun = time.monotonic()
        found = la.read(path, limits=Limits(seconds=0.3))
        assert found.status == "too slow"
        assert time.monotonic() - begun < 30
        assert stopped._process.poll() is not None

    def test_memory(self, tmp_path: Path) -> None:
        """A text of 200 MB in a process that may take 128 MB in all."""
        path = tmp_path / "large.gz"
        path.write_bytes(gzip.compress(random.Random(1).randbytes(1000).hex().encode() * 20_000, 1))
        found = la.read(path, limits=Limits(memory=128 << 20))
        assert (found.status, found.text) == ("too large", "")

    def test_it_writes_no_file_and_imports_nothing_from_here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "json.py").write_text("raise SystemExit('imported from the folder')")
        (tmp_path / "a.txt").write_text("text")
        processes.stop_idle()
        assert la.read("a.txt").text == "text"

    def test_a_fork_has_a_process_of_its_own(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("text")
        assert la.read(path).ok
        child = os.fork()
        if not child:
            os._exit(0 if la.read(path).ok else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert la.read(path).ok


EXAMPLES = int(os.environ.get("LOOKALIKE_EXAMPLES", "0"))


@pytest.mark.parametrize("kind", fuzzed_files.KINDS)
def test_mutated_files(tmp_path: Path, kind: str) -> None:
    """A status each time, and never a crash, a hang, or more memory than allowed. ``python tests/fuzzed_files.py`` goes on for as long as asked."""
    fuzzer = Fuzzer(kind, [made_files.made(kind)], random.Random(None if EXAMPLES else kind), found=tmp_path)
    try:
        for _ in range(EXAMPLES or 12):
            fuzzer.once()
    finally:
        fuzzer.stop()
    assert fuzzer.run.findings == []
    assert 0 < fuzzer.run.peak_kb <= fuzzed_files.LIMITS.memory >> 10


def test_a_reader_that_dies_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fuzzer = Fuzzer("docx", [made_files.made("docx")], random.Random(1), found=tmp_path)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    fuzzer.once()
    fuzzer.stop()
    assert len(fuzzer.run.findings) == 1
    assert fuzzed_files.ENDED in fuzzer.run.findings[0]
    assert len(list(tmp_path.iterdir())) == 1


def old_workbook(place: int, number: int) -> bytes:
    """An old Excel file with a number of its table of sectors, or of its header, changed."""
    data = bytearray(made_files.made("xls"))
    struct.pack_into("<I", data, place, number)
    return bytes(data)


def test_sectors_in_a_circle() -> None:
    """The library of spreadsheets would follow them until the memory is full."""
    table = 512 * (1 + struct.unpack_from("<I", made_files.made("xls"), 76)[0])
    found = read(old_workbook(table, 0), "a.xls")
    assert (found.kind, found.status) == ("xls", "broken")
    assert "circle" in found.notes[0]
    assert read(made_files.made("xls"), "a.xls").ok


@pytest.mark.parametrize("place", [44, 64, 72])
def test_a_header_that_counts_too_much(place: int) -> None:
    found = read(old_workbook(place, 0x40000000), "a.xls")
    assert found.status == "broken"
    assert "more sectors than there are" in found.notes[0]


@pytest.mark.parametrize("cut", [b"</table:table>", b"<table:table-row>"])
def test_a_sheet_whose_xml_is_not_whole(cut: bytes) -> None:
    """The library of spreadsheets would look for the end for ever."""
    with zipfile.ZipFile(io.BytesIO(made_files.made("ods"))) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    assert cut in files["content.xml"]
    files["content.xml"] = files["content.xml"].replace(cut, b"", 1)
    found = read(made_files.zipped(files), "a.ods")
    assert (found.kind, found.status) == ("ods", "broken")
    assert "no whole XML" in found.notes[0]


def test_a_library_that_panics() -> None:
    """What libraries in Rust raise is no Exception."""

    class PanicException(BaseException):
        pass

    def panics() -> None:
        raise PanicException("range end index 120 out of range")

    def ends() -> None:
        raise KeyboardInterrupt

    guarded = _Extractor(Budget(SMALL, 1)).guarded
    found = guarded("a", "xls", panics)
    assert found is not None
    assert (found.status, found.notes) == ("broken", ("its reader gave up (range end index 120 out of range)",))
    with pytest.raises(KeyboardInterrupt):
        guarded("a", "xls", ends)


@pytest.mark.parametrize(
    ("status", "notes", "places", "said"),
    [
        ("ok", (), (la.Place("page", "page 1", 0, 4),), None),
        ("broken", ("cut",), (), None),
        ("broken", (), (), "status broken without a reason"),
        ("too slow", ("10 s",), (), "status too slow"),
        ("ok", (), (la.Place("page", "page 1", 2, 5),), "places outside of the text"),
    ],
)
def test_what_a_reader_must_not_answer(status: str, notes: tuple[str, ...], places: tuple[la.Place, ...], said: str | None) -> None:
    assert fuzzed_files.wrong(la.FileText("a", "docx", status, "text", places, notes=notes)) == said
