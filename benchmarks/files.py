"""Text out of files: each format beside the package that people use, and a folder of mixed files, scanned twice.

    python benchmarks/files.py [--files 10000] [--size 50] [--runs 7] [--folder FOLDER | --no-folder] [--json OUT]

Formats: processor time for one file in this process, the median of runs, ours and the peer in turn. The reader of ours is the one that the
process for reading runs. Folder: files of about ``--size`` KB, all different; made in ``--folder``, they are there for the next run.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import resource
import statistics
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import machine

import lookalike as la
from lookalike.files.extracting import extract
from lookalike.files.limits import Limits

_LISTS = (
    "the ferry leaves northern quay at seven and comes back in evening with post bread islands weather contract seller buyer deposit",
    "delivery court invoice amount payment period clause party goods quality inspection transport insurance liability notice dispute",
    "合同 甲方 乙方 付款 交货 质量 检验 违约 责任 争议 发票 金额 税率 签字 生效 条款 货物 运输 保险 通知",
)
WORDS = " ".join(_LISTS).split()
Maker = Callable[[random.Random, int], bytes]


def lines(chance: random.Random, characters: int) -> list[str]:
    found, total = [], 0
    while total < characters:
        line = " ".join(f"{chance.choice(WORDS)}{chance.randrange(1000) if chance.random() < 0.15 else ''}" for _ in range(14))
        found.append(line)
        total += len(line)
    return found


def repacked(template: bytes, part: str, content: str) -> bytes:
    """A file of a library with another part in it: ten thousand by the library itself would take longer than the benchmark."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(template)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for info in source.infolist():
            target.writestr(info.filename, content if info.filename == part else source.read(info.filename))
    return out.getvalue()


class Templates:
    """Files of the writing libraries, made once."""

    def __init__(self) -> None:
        import docx
        import openpyxl
        import pptx

        self.docx, self.xlsx, self.pptx = io.BytesIO(), io.BytesIO(), io.BytesIO()
        docx.Document().save(self.docx)
        openpyxl.Workbook().save(self.xlsx)
        show = pptx.Presentation()
        show.slides.add_slide(show.slide_layouts[6])
        show.save(self.pptx)

    def make_docx(self, chance: random.Random, size: int) -> bytes:
        space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        runs = "".join(
            '<w:p><w:pPr><w:spacing w:after="120"/></w:pPr><w:r><w:rPr><w:sz w:val="22"/></w:rPr>'
            f'<w:t xml:space="preserve">{line}</w:t></w:r></w:p>'
            for line in lines(chance, int(0.9 * size))
        )
        return repacked(self.docx.getvalue(), "word/document.xml", f"<w:document {space}><w:body>{runs}</w:body></w:document>")

    def make_xlsx(self, chance: random.Random, size: int) -> bytes:
        space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
        rows = []
        for number, line in enumerate(lines(chance, int(1.4 * size)), 1):
            texts = "".join(
                f'<c r="{column}{number}" t="inlineStr"><is><t>{word}</t></is></c>'
                for column, word in zip("ABCDEFGH", line.split(), strict=False)
            )
            rows.append(f'<row r="{number}">{texts}<c r="I{number}"><v>{chance.randrange(10**6)}</v></c></row>')
        return repacked(
            self.xlsx.getvalue(), "xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{''.join(rows)}</sheetData></worksheet>"
        )

    def make_pptx(self, chance: random.Random, size: int) -> bytes:
        office = "http://schemas.openxmlformats.org"
        space = f'xmlns:a="{office}/drawingml/2006/main" xmlns:p="{office}/presentationml/2006/main"'
        runs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines(chance, size))
        named = "<p:nvSpPr><p:cNvPr id='2' name='t'/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>"
        shape = f"<p:sp>{named}<p:txBody><a:bodyPr/>{runs}</p:txBody></p:sp>"
        tree = f"<p:spTree><p:nvGrpSpPr><p:cNvPr id='1' name=''/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>{shape}</p:spTree>"
        return repacked(self.pptx.getvalue(), "ppt/slides/slide1.xml", f"<p:sld {space}><p:cSld>{tree}</p:cSld></p:sld>")


def make_pdf(chance: random.Random, size: int) -> bytes:
    """Pages of 50 lines; the streams are not packed, so that the file is as large as its text."""
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pageCompression=0, invariant=1)
    found = [line.encode("ascii", "ignore").decode() for line in lines(chance, int(0.8 * size))]
    for first in range(0, len(found), 50):
        text = canvas.beginText(30, 800)
        text.setFont("Helvetica", 8)
        for line in found[first : first + 50]:
            text.textLine(line)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def make_text(chance: random.Random, size: int) -> bytes:
    return "\n".join(lines(chance, int(0.85 * size))).encode()


def make_html(chance: random.Random, size: int) -> bytes:
    body = "".join(f"<p>{line}</p>" for line in lines(chance, int(0.8 * size)))
    return f"<!doctype html><html><head><title>page</title></head><body><article>{body}</article></body></html>".encode()


def ours(data: bytes) -> str:
    return extract(io.BytesIO(data), "file", Limits(), len(data))[0].text


def of_docx(data: bytes) -> str:
    import docx

    return "\n".join(paragraph.text for paragraph in docx.Document(io.BytesIO(data)).paragraphs)


def of_xlsx(data: bytes) -> str:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    return "\n".join("\t".join(map(str, row)) for sheet in book for row in sheet.iter_rows(values_only=True))


def of_pptx(data: bytes) -> str:
    import pptx

    show = pptx.Presentation(io.BytesIO(data))
    return "\n".join(shape.text_frame.text for slide in show.slides for shape in slide.shapes if shape.has_text_frame)


def of_pdf(data: bytes) -> str:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    return "\n".join(page.get_textpage().get_text_bounded() for page in document)


PEERS = {"docx": ("python-docx", of_docx), "xlsx": ("openpyxl", of_xlsx), "pptx": ("python-pptx", of_pptx), "pdf": ("pypdfium2", of_pdf)}


def formats(size: int, runs: int) -> dict[str, Any]:
    found = {}
    for kind, make in makers().items():
        if kind not in PEERS:
            continue
        name, peer = PEERS[kind]
        data = make(random.Random(kind), size)
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        texts = ours(data), peer(data)
        agree = set(texts[0].split()) >= set(texts[1].replace("\ufffe", "").split())
        for _ in range(runs):
            for who, read in (("ours", ours), ("peer", peer)):
                begun = time.process_time()
                read(data)
                times[who].append(time.process_time() - begun)
        mine, theirs = (statistics.median(times[who]) for who in ("ours", "peer"))
        found[kind] = {
            "bytes": len(data),
            "characters": len(texts[0]),
            "peer": name,
            "ours_ms": round(1000 * mine, 3),
            "peer_ms": round(1000 * theirs, 3),
            "ratio": round(theirs / mine, 2),
            "words_agree": agree,
        }
    return found


def makers() -> dict[str, Maker]:
    templates = Templates()
    return {
        "docx": templates.make_docx,
        "pdf": make_pdf,
        "xlsx": templates.make_xlsx,
        "txt": make_text,
        "html": make_html,
        "pptx": templates.make_pptx,
    }


SHARES = {"docx": 0.3, "pdf": 0.25, "xlsx": 0.15, "txt": 0.15, "html": 0.1, "pptx": 0.05}


def fill(folder: Path, count: int, size: int) -> None:
    made = makers()
    counts = {kind: round(share * count) for kind, share in SHARES.items()}
    for kind, number in counts.items():
        for each in range(number):
            path = folder / f"{each % 100}" / f"{kind} {each}.{kind}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(made[kind](random.Random(f"{kind}{each}"), size))


class Readers:
    """The largest of the processes that read files. What the system says of children that have ended is no smaller than their parent was
    when it started them, so they are asked while they run."""

    def __init__(self) -> None:
        self.peak = 0  # kilobytes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            for children in Path("/proc/self/task").glob("*/children"):
                with suppress(OSError):
                    self.peak = max([self.peak, *map(_peak_of, children.read_text().split())])


def _peak_of(process: str) -> int:
    """Kilobytes that a process took at most since it began to run its own program; 0 of one that has not, or has ended."""
    with suppress(OSError):
        if b"lookalike.files.worker" in Path(f"/proc/{process}/cmdline").read_bytes():
            found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
            return int(found[1]) if found else 0
    return 0


def scanned(folder: Path, store: Path) -> dict[str, Any]:
    def used() -> float:
        own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    from lookalike.files.processes import stop_idle

    stop_idle()  # only what has ended counts as used by children
    begun, cpu = time.monotonic(), used()
    with Readers() as readers:
        report = la.scan(folder, store=store)
    stop_idle()
    return {
        "wall_s": round(time.monotonic() - begun, 2),
        "cpu_s": round(used() - cpu, 2),
        "files": report.files,
        "read": report.read,
        "unchanged": report.unchanged,
        "families": len(report.families),
        "without_text": len(report.skipped),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "peak_of_a_reader_mb": readers.peak >> 10,
    }


def folder_run(count: int, size: int, kept: Path | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder, store = kept or Path(place) / "files", Path(place) / "store"
        folder.mkdir(exist_ok=True)
        if not any(folder.iterdir()):
            fill(folder, count, size)
        found: dict[str, Any] = {"counts": dict(Counter(path.suffix[1:] for path in folder.rglob("*.*")))}
        found["megabytes"] = round(sum(path.stat().st_size for path in folder.rglob("*.*")) / 1e6, 1)
        found["first"] = scanned(folder, store)
        found["unchanged"] = scanned(folder, store)
        return found


def run(count: int, size: int, runs: int, *, folder: bool = True, kept: Path | None = None) -> dict[str, Any]:
    result = machine.describe() | {"formats": formats(size, runs)}
    return result | {"folder": folder_run(count, size, kept)} if folder else result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=50, help="kilobytes")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="where the files are made, or were made before")
    parser.add_argument("--no-folder", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = run(options.files, options.size * 1000, options.runs, folder=not options.no_folder, kept=options.folder)
    for kind, row in result["formats"].items():
        print(
            f"{kind:5} {row['bytes']:7,} bytes  ours {row['ours_ms']:8.2f} ms  {row['peer']} {row['peer_ms']:8.2f} ms  {row['ratio']} times"
        )
    for name in ("first", "unchanged"):
        if "folder" in result:
            print(name, result["folder"][name])
    if options.json:
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
