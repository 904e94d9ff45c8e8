"""A folder of real files: what belongs together, and what a second scan reads."""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
import made_files
from lookalike.cli import main
from lookalike.scanning.relations import FileEntry, bare_name, families_of

PLAN = (
    "培养方案：学生应当修满一百六十学分，其中必修课一百二十学分，选修课四十学分。毕业设计不少于{}周，由指导教师负责评定成绩，并报学院备案。"
)
Run = Callable[..., tuple[Any, int]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "文件"
    folder.mkdir()
    noise = bytes(range(256)) * 30 + os.urandom(12_000)
    files = {
        "合同.docx": made_files.docx(header=""),
        "合同.pdf": made_files.made("pdf"),
        "改名.pdf": made_files.made("pdf"),
        "方案_v1.docx": made_files.docx([PLAN.format("十四")]),
        "方案_v2.docx": made_files.docx([PLAN.format("十六")]),
        "image.bin": noise,
        "image2.bin": noise[:-500] + b"x" * 300,
        "locked.pdf": made_files.pdf(password="x"),
        "other.txt": b"nothing that any of the others says, in a text of its own about the weather on the islands",
        "old.zip": made_files.zipped({"in/合同.odt": made_files.made("odt")}),
    }
    for place, (name, data) in enumerate(files.items()):
        (folder / name).write_bytes(data)
        os.utime(folder / name, (1_700_000_000 + place, 1_700_000_000 + place))
    return folder


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[Any, int]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([*map(str, arguments), "--json"])
        out, err = capfd.readouterr()
        return json.loads(out) if out else err, int(str(stop.value.code))

    return call


def names(family: dict[str, Any]) -> set[str]:
    return {Path(each["id"]).name for each in family["files"]}


def test_what_belongs_together(folder: Path) -> None:
    report = la.scan(folder)
    found = report.to_dict()
    assert (found["files"], found["read"], found["unchanged"]) == (10, 10, 0)
    assert [[Path(name).name for name in group["files"]] for group in found["copies"]] == [["合同.pdf", "改名.pdf"]]
    assert found["copies"][0]["renamed"]
    families = {frozenset(names(family)): family for family in found["families"]}
    assert set(families) == {
        frozenset({"合同.docx", "合同.pdf", "改名.pdf", "合同.odt"}),
        frozenset({"方案_v1.docx", "方案_v2.docx"}),
        frozenset({"image.bin", "image2.bin"}),
    }
    relations = {Path(each["id"]).name: each.get("relation") for family in families.values() for each in family["files"]}
    assert relations["改名.pdf"] == "renamed copy"
    assert "another format" in (relations["合同.docx"], relations["合同.odt"])
    assert relations["方案_v2.docx"] == "near-copy"
    assert relations["image2.bin"] == "near-copy by bytes"
    plans = families[frozenset({"方案_v1.docx", "方案_v2.docx"})]
    assert [[Path(name).name for name in group] for group in plans["versions"]] == [["方案_v1.docx", "方案_v2.docx"]]
    assert {(Path(each["id"]).name, each["status"]) for each in found["skipped"]} == {
        ("image.bin", "binary"), ("image2.bin", "binary"), ("locked.pdf", "encrypted"),
    }  # fmt: skip


def test_every_file_is_named_whatever_is_wrong_with_it_or_with_its_archive(tmp_path: Path) -> None:
    """Members that are cut, archives that are cut, empty or locked: each has a status, and its digests if its bytes are there."""
    cut = made_files.docx()[:5000]
    locked = bytearray(made_files.zipped({"locked.txt": b"some words", "open.txt": b"other words that are open to all"}))
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    files = {
        "cut.docx": cut,
        "empty.zip": made_files.zipped({}),
        "locked.zip": bytes(locked),
        "some.zip": made_files.zipped({"a.docx": cut, "b.txt": "几个词".encode(), "in.zip": made_files.zipped({"c.docx": cut})}),
        "cut.tar": made_files.tarred({"first.txt": b"what can be read of it", "rest": bytes(range(256)) * 90})[:20_000],
        "cut.tar.gz": made_files.tarred({"rest": os.urandom(50_000)}, "w:gz")[:9000],
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    store = tmp_path / ".store"
    report = la.scan(tmp_path, store=store)
    found = {each["id"].removeprefix(f"{tmp_path}/"): (each["kind"], each["status"]) for each in report.skipped}
    assert found == {
        "cut.docx": ("zip", "broken"),
        "empty.zip": ("zip", "empty"),
        "locked.zip": ("zip", "encrypted"),
        "some.zip/a.docx": ("zip", "broken"),
        "some.zip/in.zip/c.docx": ("zip", "broken"),
        "cut.tar": ("tar", "broken"),
        "cut.tar.gz": ("gz", "broken"),
    }
    assert [each["note"] for each in report.skipped if each["id"].endswith("locked.zip")] == [
        "locked.txt: it is encrypted: save a copy of it without the password"
    ]
    assert [[Path(each.id).name for each in group] for group in report.copies] == [["cut.docx", "a.docx", "c.docx"]]
    assert report.files == len(found) + 3, "what can be read is there too"
    assert la.scan(tmp_path, store=store).unchanged == len(files)
    with la.open(store) as index:
        assert {Path(str(match.id)).name for match in index.search(tmp_path / "cut.docx", by="fuzzy")} == {"cut.docx", "a.docx", "c.docx"}
        added = index.add(tmp_path / "empty.zip")
    assert added.added + added.updated == 1, "no file is refused"


def test_the_page_shows_what_changed(folder: Path) -> None:
    shown = la.scan(folder).to_html()
    assert "方案_v2.docx" in shown
    assert 'class="reworded"' in shown or "<ins>" in shown
    assert "encrypted" in shown


def test_what_the_page_has_no_room_for_is_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.scanning.html_report.MOST", 1)
    (folder / "改名2.docx").write_bytes((folder / "方案_v1.docx").read_bytes())
    (folder / "改名3.docx").write_bytes((folder / "方案_v1.docx").read_bytes())
    found = la.scan(folder)
    assert min(len(found.families), len(found.copies), len(found.skipped)) > 1
    more = sum(len(each) - 1 for each in (found.families, found.copies, found.skipped, found.families[0].files))
    assert sum(int(count) for count in re.findall(r"… and (\d+) more \(--json has all\)", found.to_html())) == more


def test_a_second_scan_reads_what_changed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "store"
    first = la.scan(folder, store=store).to_dict()
    monkeypatch.setattr("lookalike.scanning.folder.read_members", None)  # nothing is read
    second = la.scan(folder, store=store).to_dict()
    assert (second["read"], second["unchanged"]) == (0, 10)
    assert {**second, "read": 10, "unchanged": 0, "seconds": 0} == {**first, "seconds": 0}
    monkeypatch.undo()
    (folder / "new.txt").write_bytes((folder / "other.txt").read_bytes())
    (folder / "合同.pdf").unlink()
    (folder / "old.zip").write_bytes(made_files.zipped({"在/other.txt": b"something else"}))
    third = la.scan(folder, store=store)
    assert (third.read, third.unchanged, third.removed) == (2, 8, 1)
    assert [[Path(each.id).name for each in group] for group in third.copies] == [["other.txt", "new.txt"]]
    with la.open(store, read_only=True) as index:
        assert f"{folder}/合同.pdf" not in index
        assert f"{folder}/old.zip/在/other.txt" in index
        assert f"{folder}/old.zip/in/合同.odt" not in index
        assert index.check().ok
        assert index.get(f"{folder}/方案_v1.docx").meta["profile"]["words"] == ["方案", "v1"]
    (store / "scan.json").write_text("broken")
    assert la.scan(folder, store=store).to_dict()["families"] == third.to_dict()["families"]


def test_a_scan_that_was_stopped_goes_on(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.scanning.storing.BATCH", 2)

    def stop(done: int, _: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        la.scan(folder, store=tmp_path / "store", progress=stop)
    report = la.scan(folder, store=tmp_path / "store")
    assert report.read < 10
    assert report.files == 10


def test_near_copies_are_found_while_files_are_read(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the store finds them: of a new store without asking it, in whatever batches they are stored."""
    monkeypatch.setattr("lookalike.scanning.storing.BATCH", 3)
    asked: list[str] = []
    plain = la.Index.clusters
    monkeypatch.setattr(la.Index, "clusters", lambda self, by, **options: asked.append(by) or plain(self, by, **options))
    first = la.scan(folder, store=tmp_path / "new").to_dict()["families"]
    assert first
    assert asked == []
    with la.open(tmp_path / "has") as index:
        index.add("something", "that was there before")
        assert la.scan(folder, store=index).to_dict()["families"] == first
    assert asked == ["near"]
    (tmp_path / "new/scan.json").unlink()
    assert la.scan(folder, store=tmp_path / "new").to_dict()["families"] == first
    assert asked == ["near", "near"]


def test_two_files_of_one_name_in_an_archive(tmp_path: Path) -> None:
    """Both are in the store, and belong to what they are like."""
    folder = tmp_path / "files"
    folder.mkdir()
    texts = [" ".join(f"{word}{number}" for number in range(60)) for word in ("one", "two")]
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("same.txt", texts[0])
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("same.txt", texts[1])
    (folder / "b.txt").write_text(texts[0])
    (folder / "c.txt").write_text(texts[1])
    families = la.scan(folder, store=tmp_path / "store").families
    with la.open(tmp_path / "store", read_only=True) as index:
        expected = [{cluster.kept, *(member.id for member in cluster.removed)} for cluster in index.clusters("near", threshold=0.8)]
    assert sorted(map(sorted, ({each.id for each in family.files} for family in families))) == sorted(map(sorted, expected))
    assert len(expected) == 2


def test_the_files_of_other_folders_stay_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan of the folder that one is in, or of the one above, does not take the files of other folders for files that are gone."""
    for name in ("one", "two"):
        (tmp_path / "top" / name).mkdir(parents=True)
        (tmp_path / "top" / name / "a.txt").write_text(f"{name} file")
    (tmp_path / "top" / "two" / "b.txt").write_text("another file")
    store = tmp_path / "store"
    monkeypatch.chdir(tmp_path / "top" / "two")
    la.scan(tmp_path / "top" / "one", store=store)
    la.scan("../one", store=store)
    assert la.scan(".", store=store).removed == 0
    (tmp_path / "top" / "two" / "b.txt").unlink()
    assert la.scan(".", store=store).removed == 1
    (tmp_path / "top" / "two" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "top" / "two" / "deep")
    other = tmp_path / "other"
    la.scan("../../one", store=other)
    assert la.scan("..", store=other).removed == 0
    for path, ids in ((store, ["../one/a.txt", f"{tmp_path}/top/one/a.txt", "a.txt"]), (other, ["../../one/a.txt", "../a.txt"])):
        with la.open(path, read_only=True) as index:
            assert sorted(map(str, index.ids())) == ids


@pytest.mark.parametrize("given", [".", "../mine"])
def test_what_else_the_store_has_hides_no_relation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    text = " ".join(f"word{place}" for place in range(300))
    data = os.urandom(9000)
    for folder, numbers in (("other", range(60)), ("mine", range(60, 62))):
        (tmp_path / folder).mkdir()
        for number in numbers:
            (tmp_path / folder / f"{number}.txt").write_text(f"{text} and {number}")
            (tmp_path / folder / f"{number}.bin").write_bytes(data + bytes([number]))
    monkeypatch.chdir(tmp_path / "mine")
    with la.open("memory://") as index:
        la.scan(tmp_path / "other", store=index)
        for _ in range(2):
            found = la.scan(given, store=index)
            assert {tuple(Path(each.id).name for each in family.files) for family in found.families} == {
                ("60.txt", "61.txt"),
                ("60.bin", "61.bin"),
            }


def test_names_that_are_no_unicode(tmp_path: Path) -> None:
    """The same folder is known again, and a file that has the name of another's escape is a file of its own."""
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    for number, name in enumerate((b"a\xff.txt", b"a\\xff.txt", b"a\\x5cxff.txt", b"a\\b.txt")):
        (folder / os.fsdecode(name)).write_text(f"file number {number}")
    first = la.scan(folder, store=tmp_path / "store")
    assert (first.files, first.read) == (4, 4)
    (folder / os.fsdecode(b"a\xff.txt")).unlink()
    second = la.scan(folder, store=tmp_path / "store")
    assert (second.files, second.read, second.removed) == (3, 0, 1)


def test_files_that_go_while_they_are_stored(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their texts were read and their digests were not: they are named, and all others are in the store."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    gone, plain = files[0], la.Index.add

    def add(index: la.Index, batch: list[la.Document]) -> object:
        gone.unlink(missing_ok=True)
        return plain(index, batch)

    monkeypatch.setattr(la.Index, "add", add)
    report = la.scan(folder, store=tmp_path / "store")
    assert [(each["id"], each["status"]) for each in report.skipped if each["id"] == str(gone)] == [(str(gone), "broken")]
    assert report.read == len(files)
    second = la.scan(folder, store=tmp_path / "store")
    assert (second.read, second.removed, second.unchanged) == (0, 1, len(files) - 1)


def test_a_report_is_not_lost_where_it_cannot_be_remembered(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = la.scan(folder, store=store)
    (store / "scan.tmp").mkdir()  # as on a full disk: the file cannot be written
    (store / "scan.json").unlink()
    second = la.scan(folder, store=store)
    assert second.to_dict()["families"] == first.to_dict()["families"]
    assert not (store / "scan.json").exists()


def test_labels_and_patterns_that_come_later(tmp_path: Path) -> None:
    """Files that did not change get them too, once; a scan without any leaves them as they are."""
    folder, store, profiles = tmp_path / "files", tmp_path / "store", tmp_path / "rows.jsonl"
    folder.mkdir()
    (folder / "a.txt").write_text("buyer and seller pay a deposit, order PO-4711")
    (folder / "photo.bin").write_bytes(bytes(range(256)) * 20)
    examples = {"contract": ["buyer seller deposit"], "minutes": ["council voted mayor"]}

    def scanned(read: int, domain: str, **options: Any) -> dict[str, Any]:
        assert la.scan(folder, store=store, **options).read == read
        with la.open(store, read_only=True) as index:
            found: dict[str, Any] = index.get(f"{folder}/a.txt").meta["profile"]
        assert found["domain"] == domain
        return found

    scanned(2, "")
    scanned(2, "contract", labels=examples)
    scanned(0, "contract", labels=examples)
    scanned(0, "contract")
    examples = {"deal": examples.pop("contract")} | examples
    scanned(2, "deal", labels=examples)
    found = scanned(2, "deal", labels=examples, patterns={"order": r"PO-(\d+)"})
    assert found["schema"] == {"order": ["4711"]}
    scanned(0, "deal", labels=examples, patterns={"order": r"PO-(\d+)"})
    scanned(2, "other", labels=own_label)
    scanned(0, "other", labels=own_label)
    profiles.write_text('{"text": "buyer seller deposit", "label": "row"}')
    scanned(2, "row", labels=profiles)


def test_a_folder_that_cannot_be_read_costs_that_folder_alone(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and its files stay in the store until it can be read again."""
    closed, store, listed = folder / "closed", tmp_path / "store", os.scandir
    closed.mkdir()
    (closed / "a.txt").write_text("a text in the folder")
    first = la.scan(folder, store=store)

    def scandir(path: Any) -> Any:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(closed))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    second = la.scan(folder, store=store)
    assert (second.read, second.removed, second.files) == (0, 0, first.files - 1)
    assert second.skipped[-1] == {"id": str(closed), "kind": "folder", "status": "broken", "note": "Permission denied"}
    assert str(closed) in second.to_html()
    with pytest.raises(la.InputError, match="Permission denied; check its permissions"):
        la.scan(closed)
    monkeypatch.undo()
    assert la.scan(folder, store=store).unchanged == first.read


def test_a_folder_with_nothing_but_a_closed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said what is closed, and not that there are no files."""
    closed, listed = tmp_path / "closed", os.scandir
    closed.mkdir()

    def scandir(path: Any) -> Any:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(closed))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = la.scan(tmp_path)
    assert (found.files, found.skipped[0]["note"]) == (0, "Permission denied")


def test_what_is_wrong_with_labels_is_said_of_no_file(folder: Path) -> None:
    with pytest.raises(la.InputError, match="labels: the function gave 3"):
        la.scan(folder, labels=lambda _: 3)


def test_files_of_a_store_with_labels_are_found_by_their_profiles(folder: Path, tmp_path: Path, run: Run) -> None:
    """Whoever searches has no labels: that says nothing about the file."""
    store = tmp_path / "s"
    la.scan(folder, store=store, labels={"合同": ["甲方 乙方 违约金"], "方案": ["培养方案 学分"]})
    found, _ = run("search", store, folder / "合同.docx", "--by", "record")
    assert Path(found[0]["id"]).name == "合同.docx"
    assert found[0]["score"] > 0.9
    assert "domain" not in found[0]["fields"]


def test_names_that_are_too_long_for_an_id(tmp_path: Path) -> None:
    """None of them takes the place of another, and none is refused."""
    (tmp_path / "in").mkdir()
    members = {f"{number}/{'很长的名字' * 190}.txt": f"text {number}".encode() for number in range(3)}
    (tmp_path / "in" / "a.zip").write_bytes(made_files.zipped(members))
    with la.open("memory://") as index:
        assert la.scan(tmp_path / "in", store=index).files == 3
        assert {document.text for document in index.documents()} == {"text 0", "text 1", "text 2"}
        ids = set(index.ids())
    with la.open("memory://") as index:
        assert index.add(tmp_path / "in").added == 3
        assert set(index.ids()) == ids


def own_label(_: la.FileText) -> str:
    return "other"


def test_files_beyond_a_limit_are_tried_again_with_other_limits(tmp_path: Path) -> None:
    folder, store = tmp_path / "files", tmp_path / "store"
    folder.mkdir()
    (folder / "a.docx").write_bytes(made_files.made("docx"))
    with zipfile.ZipFile(folder / "b.zip", "w") as archive:
        archive.writestr("0.txt", "a text")
        archive.writestr("a.docx", made_files.made("docx"))
    first = la.scan(folder, store=store, limits=la.Limits(characters=20))
    assert (first.read, {each["status"] for each in first.skipped}) == (2, {"too large"})
    second = la.scan(folder, store=store, limits=la.Limits(characters=20))
    assert (second.read, len(second.skipped)) == (0, len(first.skipped))
    third = la.scan(folder, store=store)
    assert (third.read, third.skipped) == (2, [])
    assert la.scan(folder, store=store, limits=la.Limits(characters=20)).read == 0


def test_long_files_are_stored_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.scanning.storing.BATCH_SIZE", 1000)
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"{number} {400 * 'x'}")
    batches: list[int] = []
    plain = la.Index.add
    monkeypatch.setattr(la.Index, "add", lambda self, batch: batches.append(len(batch)) or plain(self, batch))
    assert la.scan(folder).files == 12
    assert batches == [3, 3, 3, 3]


def test_a_file_that_cannot_be_stored_ends_the_scan(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.scanning.storing.BATCH", 1)

    def fail(*_: object) -> None:
        raise la.StoreError("the disk is full")

    monkeypatch.setattr(la.Index, "add", fail)
    with pytest.raises(la.StoreError, match="the disk is full"):
        la.scan(folder, store=tmp_path / "store")


def test_the_verb(folder: Path, tmp_path: Path, run: Run) -> None:
    store, page, profiles = tmp_path / "s", tmp_path / "r.html", tmp_path / "p.jsonl"
    # The verb exits by itself only with an error: with 0 it returns through click.
    found, code = run("scan", folder, "--store", store, "--html", page, "--profiles", profiles)
    assert (code, found["files"]) == (0, 10)
    assert set(found) >= {"files", "copies", "families", "skipped"}
    assert "<!doctype html>" in page.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in profiles.read_text(encoding="utf-8").splitlines()]
    assert {Path(line["id"]).name for line in lines} >= {"合同.docx", "合同.pdf"}
    matches, code = run("search", store, folder / "合同.pdf")
    assert {Path(match["id"]).suffix for match in matches} >= {".pdf", ".docx"}
    assert run("scan", folder / "other.txt")[1] == 2
    assert run("scan", folder, "--profiles", profiles)[1] == 2


def test_other_documents_of_the_store_may_have_fields_of_the_same_names(folder: Path, tmp_path: Path, run: Run) -> None:
    store, name = tmp_path / "s", str(folder / "other.txt")
    metas: list[dict[str, Any]] = [
        {"profile": "premium", "file": name},
        {"file": name, "file_bytes": 12},
        {"file": name, "file_bytes": "many", "mtime": None, "kind": 5, "sha256": [], "bytes": {}},
    ]
    with la.open(store) as index:
        index.add((f"own {place}", f"a text with the number {place}", meta) for place, meta in enumerate(metas))
    for _ in range(2):
        assert run("scan", folder, "--store", store, "--profiles", tmp_path / "p.jsonl")[1] == 0
    with la.open(store) as index:
        assert [index.get(f"own {place}").meta for place in range(len(metas))] == metas
    assert '"own ' not in (tmp_path / "p.jsonl").read_text(encoding="utf-8")


def test_no_file_of_the_folder_is_a_report(folder: Path, tmp_path: Path, run: Run) -> None:
    labels = tmp_path / "labels"
    (labels / "weather").mkdir(parents=True)
    example = labels / "weather" / "a.txt"
    example.write_text("rain and wind")
    link = tmp_path / "link.html"
    link.symlink_to(folder / "other.txt")
    before = {path: path.read_bytes() for path in (folder / "other.txt", example)}
    for report in (folder / "other.txt", link, example):
        for option in ("--html", "--profiles"):
            said, code = run("scan", folder, "--labels", labels, "--store", tmp_path / "s", option, report)
            assert (code, "is the input" in said) == (2, True)
    assert {path: path.read_bytes() for path in before} == before
    assert run("scan", folder, "--html", "")[1] == 2
    assert run("scan", folder, "--html", folder / "new.html")[1] == 0


class TestLeaks:
    """A protected folder, and files on their way out."""

    def test_in_an_archive_in_a_mail(self, folder: Path, tmp_path: Path, run: Run) -> None:
        store = tmp_path / "s"
        run("add", store, folder)
        inner = made_files.zipped(
            {"harmless.txt": b"hello", "x/renamed.rtf": made_files.rtf([*made_files.PAGES, "and a few words of somebody else"])}
        )
        mail = tmp_path / "out.eml"
        mail.write_bytes(made_files.eml(["hello, see the attachment " * 30], {"a.zip": inner}))
        found, code = run("search", store, mail, "--by", "passages", "--min-share", "0.2")
        assert code == 0
        contract = next(match for match in found if match["id"].endswith("合同.pdf"))
        assert contract["share"] > 0.9
        assert contract["passages"][0]["left_place"] == "a.zip › x/renamed.rtf"
        assert contract["passages"][0]["right_place"].startswith("page 1")
        assert not any("方案" in match["id"] for match in found)
        clean = tmp_path / "clean.eml"
        clean.write_bytes(made_files.eml(["hello, nothing of yours is in here, only a greeting to everybody"]))
        assert run("search", store, clean, "--by", "passages", "--min-share", "0.2") == ([], 1)
        assert run("search", store, clean, "--by", "near", "--min-share", "0.2")[1] == 2
        for name, data in {"empty.rtf": made_files.rtf([""]), "empty.txt": b"\n", "empty.zip": made_files.zipped({})}.items():
            (tmp_path / name).write_bytes(data)
            said, code = run("search", store, tmp_path / name, "--by", "passages", "--min-share", "0.2")
            assert (code, f"{name}' has no text" in said) == (2, True)
        assert run("search", store, clean, "--by", "passages", "--min-share", "2")[1] == 2

    def test_without_the_texts(self, folder: Path, tmp_path: Path) -> None:
        """A store that keeps no text says how much, as an estimate."""
        with la.open(tmp_path / "s", keep_text=False) as index:
            index.add(folder)
            found = index.search(made_files.made("docx"), by="passages", min_share=0.2)
            assert {Path(str(match.id)).name for match in found} >= {"合同.pdf", "合同.docx"}
            assert all(match.estimated and (match.share or 0) >= 0.2 for match in found)


@pytest.mark.parametrize(
    ("name", "bare"),
    [("合同_v2(1).docx", "合同"), ("合同 终稿.docx", "合同"), ("Report-2026-01-02 final.pdf", "report"), ("plan rev3.txt", "plan"), ("第2版 方案.doc", "方案")],
)  # fmt: skip
def test_bare_names(name: str, bare: str) -> None:
    assert bare_name(name) == bare


@pytest.mark.parametrize("query", ["合同.pdf", "old.odt"])
def test_files_are_found_by_their_profiles(folder: Path, tmp_path: Path, run: Run, query: str) -> None:
    """Whatever their format: the profile of the query is made as the scan made the others."""
    store = tmp_path / "s"
    la.scan(folder, store=store)
    asked = folder / query if query in os.listdir(folder) else tmp_path / query
    if not asked.exists():
        asked.write_bytes(made_files.made("odt"))
    found, code = run("search", store, asked, "--by", "record", "--threshold", 0.5)
    assert code == 0
    assert {"合同.docx", "合同.pdf"} <= {Path(each["id"]).name for each in found}
    assert found[0]["score"] > 0.7
    assert found[0]["fields"]["schema"]["similarity"] > 0.5
    assert "other.txt" not in {Path(each["id"]).name for each in found}


def test_a_profile_is_a_record_of_the_store(folder: Path, tmp_path: Path) -> None:
    la.scan(folder, store=tmp_path / "s")
    with la.open(tmp_path / "s", read_only=True) as index:
        pdf = index.get(str(folder / "合同.pdf"))
        assert pdf is not None
        assert pdf.record is not None
        assert pdf.record["schema"] == pdf.meta["profile"]["schema"]
        assert "kind" not in pdf.record
        locked = index.get(str(folder / "locked.pdf"))
        assert locked is not None
        assert locked.record is None
        found = index.search(pdf.record)
        assert len(found) >= 2  # the copy under another name
        # The Path of a file stands for its profile, as on the command line, and that of a JSON file for what it holds.
        by_path = index.search(folder / "合同.pdf", by="record")
        assert {each.id for each in by_path} >= {str(folder / "合同.pdf"), str(folder / "合同.docx")}
        (tmp_path / "asked.json").write_text(json.dumps(pdf.record), encoding="utf-8")
        assert [each.id for each in index.search(tmp_path / "asked.json", by="record")] == [each.id for each in found]
        with pytest.raises(la.InputError, match=r"locked\.pdf' has no text, and so no profile \(encrypted\)"):
            index.search(folder / "locked.pdf", by="record")
        with pytest.raises(la.InputError, match="the Path of a file, not a int"):
            index.search(5, by="record")  # type: ignore[arg-type]
    with la.open("memory://", kinds=["minhash"]) as index:
        assert la.scan(folder, store=index).files == 10
        assert index.get(str(folder / "合同.pdf")) is not None


def test_a_file_without_a_profile(folder: Path, tmp_path: Path, run: Run) -> None:
    la.scan(folder, store=tmp_path / "s")
    said, code = run("search", tmp_path / "s", folder / "locked.pdf", "--by", "record")
    assert code == 2
    assert "has no text, and so no profile (encrypted): search for its bytes, by fuzzy" in said


def test_a_folder_can_be_searched_by_meaning(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "cat.docx").write_bytes(made_files.docx(["A cat is sleeping on the sofa."], header=""))
    (folder / "tax.txt").write_text("The tax office has moved to another street.")
    _, code = run("scan", folder, "--store", tmp_path / "s", "--model", "use-multilingual")
    assert code == 0
    (tmp_path / "q.txt").write_text("沙发上有一只猫在睡觉")
    found, code = run("search", tmp_path / "s", tmp_path / "q.txt", "--by", "meaning", "--threshold", 0.2)
    assert Path(found[0]["id"]).name == "cat.docx"
    said, code = run("scan", folder, "--model", "use-multilingual")
    assert code == 2
    assert "--model is that of a store" in said


def test_each_version_belongs_to_what_it_is_most_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF is another format of the version that it was made from, and not of the oldest one."""
    lines = [f"第{number}条 甲方应当在第{number}日内向乙方支付第{number}笔款项，累计不超过百分之{number}。" for number in range(30)]
    texts = {
        "合同_v1": lines,
        "合同_v2": [*lines, "补充条款一：乙方可以转租。"],
        "合同_v3": [*lines, "乙方不得转租。", "补充条款二在附件中写明。"],
    }
    for place, (name, each) in enumerate(texts.items()):
        path = tmp_path / f"{name}.md"
        path.write_text("\n".join(each), encoding="utf-8")
        os.utime(path, (1_700_000_000 + place, 1_700_000_000 + place))
    (tmp_path / "合同_v3.odt").write_bytes(made_files.odt(["\n".join(texts["合同_v3"])]))
    (tmp_path / "合同_v2.pdf").write_bytes(made_files.pdf(["\n".join(texts["合同_v2"])]))  # which says that it is older than all others
    for _ in range(2):
        (family,) = la.scan(tmp_path, store=tmp_path / ".store").families
        assert {Path(id_).name: (relation, Path(other).name) for id_, (relation, other, _) in family.relations.items()} == {
            "合同_v1.md": ("another format", "合同_v2.pdf"),
            "合同_v2.md": ("another format", "合同_v2.pdf"),
            "合同_v3.md": ("near-copy", "合同_v1.md"),
            "合同_v3.odt": ("another format", "合同_v3.md"),
            "合同_v2.pdf": ("another format", "合同_v2.md"),
        }
    monkeypatch.setattr("lookalike.scanning.nearest.MOST_FILES", 2)
    assert len(la.scan(tmp_path).families[0].files) == 5


def test_no_file_stands_in_a_family_without_a_reason() -> None:
    """The file that a cluster keeps may be its newest: then it is said of each of the others what it is to that one."""

    def entry(id_: str, day: int, sha256: str, kind: str = "docx") -> FileEntry:
        return FileEntry(id_, kind, sha256, 100, f"2026-01-{day:02}", day)

    files = [
        entry("final.pdf", 1, "p", "pdf"),
        entry("report_v1.docx", 2, "a"),
        entry("report_v2.docx", 3, "b"),
        entry("copy.docx", 4, "a"),
    ]
    near = [("copy.docx", "report_v1.docx", 1.0), ("copy.docx", "report_v2.docx", 0.9), ("copy.docx", "final.pdf", 0.95)]
    (family,) = families_of({each.id: each for each in files}, near, [])
    assert family.relations == {
        "copy.docx": ("renamed copy", "report_v1.docx", 1.0),
        "report_v2.docx": ("near-copy", "copy.docx", 0.9),
        "final.pdf": ("another format", "copy.docx", 0.95),
    }
