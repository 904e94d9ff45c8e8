"""The text of a file, whatever it is: runs inside of the process that reads files, see ``worker``."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO

from lookalike.errors import InputError, MissingExtra
from lookalike.files import archives, kinds, xml
from lookalike.files.collecting import LOCKED, Collected, Unreadable
from lookalike.files.compound import check_directory
from lookalike.files.epub import read_epub
from lookalike.files.limits import Budget, Limits, OverLimit, TooSlow
from lookalike.files.model import BINARY, BROKEN, EMPTY, ENCRYPTED, MISSING, OK, TOO_LARGE, TOO_SLOW, UNSUPPORTED, FileText
from lookalike.files.opendocument import read_opendocument
from lookalike.files.packages import read_properties
from lookalike.files.sheets import read_sheets, read_usual_xlsx
from lookalike.files.slides import read_pptx
from lookalike.files.word import read_docx
from lookalike.files.zips import CHUNK, Zip
from lookalike.io import NotText, decode_text

_PACKAGES = {"docx": read_docx, "pptx": read_pptx, "odt": read_opendocument, "odp": read_opendocument, "epub": read_epub}
_SHEETS = ("xlsx", "xlsb", "ods", "xls")
_MAX_HEADING = 200  # characters of a Markdown title


def extract(file: IO[bytes], name: str, limits: Limits, size: int, *, members: bool = False) -> list[FileText]:
    """The text of a file. With ``members`` an archive gives a file for each of its members, with its bytes."""
    reader = _Extractor(Budget(limits, size))
    return reader.members(file, name, 0) if members else [reader.read(file, name, 0)]


class _Extractor:
    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def guarded(self, name: str, kind: str, act: object) -> FileText | None:
        """Runs it; what goes wrong is a status. Libraries raise whatever they like on broken files."""
        try:
            act()  # type: ignore[operator]  # a function without arguments
        except Unreadable as error:
            return FileText(name, kind, error.status, notes=(error.note,))
        except MissingExtra as error:
            return FileText(name, kind, MISSING, notes=(str(error),))
        except (OverLimit, MemoryError) as error:
            return FileText(name, kind, TOO_LARGE, notes=(str(error) or "reading it takes more memory than is allowed",))
        except TooSlow as error:
            return FileText(name, kind, TOO_SLOW, notes=(str(error),))
        except RecursionError:
            return FileText(name, kind, TOO_LARGE, notes=("its parts lie deeper in each other than can be read",))
        except Exception as error:
            return FileText(name, kind, BROKEN, notes=(f"it cannot be read ({type(error).__name__}: {str(error)[:200]})",))
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of a library in Rust: to Python it is no Exception
                raise
            return FileText(name, kind, BROKEN, notes=(f"its reader gave up ({str(error)[:200]})",))
        return None

    def read(self, file: IO[bytes], name: str, depth: int, package: Zip | None = None) -> FileText:
        """The text of a file; ``package`` is the same file, where somebody has opened it as a ZIP file already."""
        out = Collected(self._budget, name, depth)
        found = ["binary"]

        def act() -> None:
            for kind in self._read(file, out, depth, package):
                found[0] = kind

        problem = self.guarded(name, "binary", act)
        if problem is None:
            return out.finished(found[0])
        # What was read of an archive or of mail before it went wrong is worth having.
        kept = out.finished(found[0])
        whole = replace(problem, kind=found[0], title=kept.title, meta=kept.meta, notes=(*kept.notes, *problem.notes))
        return replace(whole, text=kept.text, places=kept.places) if found[0] in (*kinds.ARCHIVES, "eml") else whole

    def _read(self, file: IO[bytes], out: Collected, depth: int, package: Zip | None) -> Iterator[str]:
        """Says what the file is, as far as that is known, and then reads it."""
        kind = "zip" if package else kinds.kind_of(kinds.head_of(file), out.name)
        yield kind
        if kind == "zip":
            package = package or Zip(file, self._budget)
            kind = kinds.zip_kind(set(package.infos), package.mimetype)
            yield kind
            if kind in _PACKAGES:
                _PACKAGES[kind](package, out)
                return
            if kind == "zip":
                self._collect(archives.zip_members(package, out), out, depth)
                return
            if kind == "ods" and "content.xml" in package:  # of XML that is not whole, the library would look for the end for ever
                xml.parse(package.stream("content.xml"), {}, {}, lambda _: None, "content.xml")
            read_properties(package, "meta.xml" if kind == "ods" else "docProps/core.xml", out)
            for info in package.all_infos:  # the library that reads it unpacks without asking
                self._budget.inflate(info.file_size)
            if kind == "xlsx" and read_usual_xlsx(package, out):
                return
            file.seek(0)
        if kind in archives.PACKINGS:
            yield from self._unpacked(kind, file, out, depth)
        elif kind == "tar":
            self._collect(archives.tar_members(file, out), out, depth)
        else:
            data = self._whole(file)
            if kind == "ole":
                kind = kinds.ole_kind(data)
                yield kind
                if kind == "ole":
                    check_directory(data)
            self._document(kind, data, out, depth)
            if out.status == BINARY:
                yield kinds.binary_kind(data[: kinds.HEAD])

    def _whole(self, file: IO[bytes]) -> bytes:
        most = self._budget.limits.document
        data = file.read(most + 1)
        if len(data) > most:
            raise OverLimit(f"it has more than {most:,} bytes")
        return data

    def _document(self, kind: str, data: bytes, out: Collected, depth: int) -> None:
        if kind == "pdf":
            from lookalike.files.pdf import read_pdf

            read_pdf(data, out)
        elif kind in _SHEETS:
            read_sheets(data, out)
        elif kind == "rtf":
            from lookalike.files.rtf import read_rtf

            read_rtf(data, out)
        elif kind == "eml":
            from lookalike.files.mail import read_mail

            self._nested(depth)
            read_mail(data, out, lambda inner, name: self.read(io.BytesIO(inner), archives.safe_name(name), depth + 1))
        elif kind == "encrypted":
            raise Unreadable(ENCRYPTED, LOCKED)
        elif kind in kinds.OLD_OFFICE:
            raise Unreadable(UNSUPPORTED, f"an old format of Microsoft Office: save it as {kinds.OLD_OFFICE[kind]}")
        elif kind in kinds.OTHER_ARCHIVES:
            raise Unreadable(UNSUPPORTED, f"{kind} archives are not read: unpack it, or pack it anew as a ZIP file")
        else:
            _plain(kind, data, out)

    def _nested(self, depth: int) -> None:
        if depth >= self._budget.limits.nesting:
            raise Unreadable(TOO_LARGE, f"it lies more than {self._budget.limits.nesting} archives or mails deep")

    def _unpacked(self, kind: str, file: IO[bytes], out: Collected, depth: int) -> Iterator[str]:
        """A packed tar is an archive; any other packed file stands for what is in it."""
        if stream := _packed_tar(kind, file):
            yield "tar"
            self._collect(archives.tar_members(stream, out), out, depth)
            return
        self._nested(depth)
        file.seek(0)
        inner = self.read(io.BytesIO(archives.unpacked(kind, file, self._budget)), archives.unpacked_name(out.name, kind), depth + 1)
        out.places += inner.places
        out.write(inner.text)
        out.notes += inner.notes
        out.title, out.status, out.encoding = inner.title, inner.status, inner.encoding
        out.meta.update(inner.meta)
        yield inner.kind

    def _collect(self, found: Iterable[archives.ArchiveMember], out: Collected, depth: int) -> None:
        self._nested(depth)
        count = 0
        for member in archives.named_once(found):
            count += 1
            if member.data is None:
                out.notes.append(f"{member.name}: {member.status}: {member.note}")
                continue
            inner = self.read(io.BytesIO(member.data), member.name, depth + 1)
            with out.place("file", member.name):
                out.add(inner)
            if inner.status in (TOO_LARGE, TOO_SLOW):
                out.status = inner.status
        out.meta["files"] = count

    def members(self, file: IO[bytes], name: str, depth: int) -> list[FileText]:
        """The files in an archive, and in archives inside it; of any other file the file itself, without its bytes. What goes wrong with
        the archive is the last of them, under its own name.
        """
        kind = kinds.kind_of(kinds.head_of(file), name)
        found: list[FileText] = []
        problem = self.guarded(name, kind, lambda: found.extend(self._members(kind, file, name, depth)))
        return [*found, problem] if problem else found

    def _members(self, kind: str, file: IO[bytes], name: str, depth: int) -> Iterator[FileText]:
        out = Collected(self._budget, name, depth)
        given: Iterable[archives.ArchiveMember] | None = None
        package: Zip | None = None
        if kind == "zip":
            package = Zip(file, self._budget)
            if kinds.zip_kind(set(package.infos), package.mimetype) == "zip":
                given = archives.zip_members(package, out)
        elif kind == "tar":
            given = archives.tar_members(file, out)
        elif kind in archives.PACKINGS and (stream := _packed_tar(kind, file)):
            given = archives.tar_members(stream, out)
        if given is None:
            file.seek(0)
            yield self.read(file, name, depth, package)
            return
        self._nested(depth)
        status = EMPTY
        for member in archives.named_once(given):
            yield from self._member(member, depth)
            status = OK
        if out.notes or status == EMPTY:
            yield FileText(name, kind, status, notes=tuple(out.notes))

    def _member(self, member: archives.ArchiveMember, depth: int) -> Iterator[FileText]:
        if member.data is None:
            yield FileText(member.name, "binary", member.status, notes=(member.note,))
            return
        for each in self.members(io.BytesIO(member.data), member.name, depth + 1):
            within = each.name != member.name
            yield replace(each, name=f"{member.name}/{each.name}") if within else replace(each, data=member.data)


def _packed_tar(kind: str, file: IO[bytes]) -> io.BufferedReader | None:
    """A packed file as a stream of what is in it, where that is a tar."""
    stream = io.BufferedReader(archives.unpacking(kind, file), CHUNK)
    try:
        return stream if kinds.kind_of(stream.peek(512), "") == "tar" else None
    except Exception:  # damaged from the start: whoever reads it says so
        return None


def _plain(kind: str, data: bytes, out: Collected) -> None:
    if kind == "html":
        _html(data, out)
        return
    try:
        read = decode_text(data, out.name)
    except NotText as error:
        out.status = BINARY if error.is_binary else BROKEN
        out.notes.append(f"no text: {error.reason.replace(repr(out.name), 'it')}")
        return
    out.write(read.text)
    out.encoding = read.encoding
    if read.note:
        out.notes.append(f"read as {read.encoding}; {read.note}")
    if kind == "markdown":
        heading = next((line.lstrip("#").strip() for line in read.text.splitlines()[:50] if line.startswith("#")), None)
        out.title = heading[:_MAX_HEADING] if heading else None


def _html(data: bytes, out: Collected) -> None:
    """As stores keep web pages: the main text; all of the text where the parsers of pages are not installed."""
    from lookalike.files.markup_text import markup_text
    from lookalike.markup.extraction import page_text
    from lookalike.markup.page import page

    try:
        made = page(data, name=out.name)
        text = page_text(made)
        out.title, out.encoding = made.title or None, made.encoding
        out.write(text)
    except MissingExtra:
        simple = markup_text(data)
        out.title = simple.title
        out.write(simple.text)
    except InputError as error:
        raise Unreadable(BROKEN, str(error)) from error
