"""Keep the documentation true: rewrite what is generated in it, and run what it shows.

Between ``<!-- generated: NAME -->`` and ``<!-- end -->`` stands what one of the functions below makes of the code:
``options VERB``, ``exit codes``, ``measures``, ``recipes``. A ```` ```console ```` block holds commands behind ``$`` and
their output; ``…`` in the output stands for anything in the line, alone on a line for any number of lines.

    python scripts/generate_docs.py           rewrite generated parts, and the console blocks that no longer hold
    python scripts/generate_docs.py --check   change nothing; exit code 1 if something would change

tests/test_docs.py imports this file.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).parent.parent
GENERATED = re.compile(r"(?P<open><!-- generated: (?P<name>[^>]+?) -->\n).*?(?P<close><!-- end -->)", re.DOTALL)
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A fenced block of a page: its language, its text, and the line of the page where the text begins."""

    language: str
    text: str
    line: int


class Step(NamedTuple):
    """A command of a console block and the output that the page promises."""

    command: str
    output: str


def pages() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: str, language: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        if found["language"] == language:
            yield Block(language, found["text"], page.count("\n", 0, found.start("text")) + 1)


# What is generated ---------------------------------------------------------------------------------------------------


def verbs() -> dict[str, click.Command]:
    from lookalike.cli import group

    context = click.Context(group, info_name="lookalike")
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def options(verb: str) -> str:
    """The usage line of a verb and the table of its options."""
    command = verbs()[verb]
    context = click.Context(command, info_name=f"lookalike {verb}")
    rows = [parameter.get_help_record(context) for parameter in command.params if isinstance(parameter, click.Option)]
    table = [f"| `{_cell(names)}` | {_cell(text)} |" for names, text in filter(None, rows)]
    return "\n".join(["```", command.get_usage(context).removeprefix("Usage: "), "```", "", "| option | meaning |", "|---|---|", *table])


def exit_codes() -> str:
    import lookalike
    from lookalike.cli import INTERNAL_ERROR, INTERRUPTED, READER_GONE

    rows = ["| code | when |", "|---|---|", "| 0 | done; `compare`: alike |", "| 1 | `compare`: not alike; `selftest`: a value differs |"]
    errors = [each for each in vars(lookalike.errors).values() if inspect.isclass(each) and issubclass(each, lookalike.LookalikeError)]
    for code in sorted({error.exit_code for error in errors}):
        names = sorted(f"`{error.__name__}`" for error in errors if error.exit_code == code and error is not lookalike.LookalikeError)
        rows.append(f"| {code} | {'wrong usage; ' if code == 2 else ''}{', '.join(names)} |")
    rows += [
        f"| {INTERNAL_ERROR} | an internal error: please report it |",
        f"| {INTERRUPTED} | interrupted |",
        f"| {READER_GONE} | nobody reads the output any more, such as behind a pipe to `head` |",
    ]
    return "\n".join(rows)


def measures() -> str:
    from lookalike.measures import measures as registered

    rows = [f"| `{name}` | {_cell(registered.get(name).about)} |" for name in registered]
    return "\n".join(["| measure | what it is |", "|---|---|", *rows])


def recipes() -> str:
    import lookalike
    from lookalike.recipe import BUILTIN_NAMES

    plain = lookalike.Recipe().to_dict()
    rows = ["| recipe | differs from the default in | id |", "|---|---|---|"]
    for name in sorted(BUILTIN_NAMES):
        recipe = lookalike.recipes.get(name)
        changes = ", ".join(f"`{field}={value!r}`" for field, value in recipe.to_dict().items() if value != plain[field])
        # A segmenter's version and the digest of an IDF table are part of the id: it depends on what is installed.
        identity = "covers the versions of rjieba and of jieba's table" if recipe.idf else f"`{recipe.id}`"
        rows.append(f"| `{name}` | {changes or '–'} | {identity} |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PARTS: dict[str, Callable[[], str]] = {"exit codes": exit_codes, "measures": measures, "recipes": recipes}


def generated(name: str) -> str:
    return options(name.removeprefix("options ")) if name.startswith("options ") else PARTS[name]()


def filled(page: str) -> str:
    """A page with its generated parts as they should be."""
    return GENERATED.sub(lambda found: f"{found['open']}{generated(found['name'])}\n{found['close']}", page)


def with_every_verb(page: str) -> str:
    """docs/cli.md with a section for every verb; a new one gets its help text to start from."""
    for name, command in verbs().items():
        if f"<!-- generated: options {name} -->" not in page:
            about = " ".join((command.help or "").split())
            page = f"{page.rstrip()}\n\n## lookalike {name}\n\n{about}\n\n<!-- generated: options {name} -->\n<!-- end -->\n"
    return page


# What is shown -------------------------------------------------------------------------------------------------------


def steps(block: str) -> list[Step]:
    found: list[Step] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append(Step(line[2:].strip(), ""))
        elif found:
            found[-1] = Step(found[-1].command, found[-1].output + line)
        else:
            raise ValueError(f"a console block begins with a command, not with {line!r}")
    return found


def holds(promised: str, actual: str) -> bool:
    pattern = ""
    for line in promised.splitlines():
        pattern += "(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.rstrip().split("…"))) + "\n"
    lines = [line.rstrip() for line in actual.splitlines()]
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


class Shell:
    """Runs commands where the examples are, in a folder of its own, with this Python's ``lookalike``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "examples", folder / "examples", dirs_exist_ok=True)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        self.environment = {**os.environ, "PATH": path, "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        self.environment.pop("PYTHONUNBUFFERED", None)  # as nearly everybody has it

    def run(self, command: str) -> str:
        """Standard output and standard error as a reader would see them. Only a command that shows $? may fail."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode} of: {command}\n{done.stdout}")
        return done.stdout


def refreshed(page: str) -> str:
    """A page with the console blocks that no longer hold as they are now. Each begins in a fresh folder, as in the tests."""

    def rerun(found: re.Match[str]) -> str:
        if found["language"] != "console":
            return found[0]
        text = ""
        with tempfile.TemporaryDirectory() as folder:
            shell = Shell(Path(folder))
            for step in steps(found["text"]):
                actual = shell.run(step.command)
                text += f"$ {step.command}\n{step.output if holds(step.output, actual) else actual}"
        return f"```console\n{text}```"

    return FENCE.sub(rerun, page)


def main() -> None:
    parser = argparse.ArgumentParser(description="Rewrite the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if something would change")
    check = parser.parse_args().check
    stale = []
    for path in pages():
        before = path.read_text(encoding="utf-8")
        page = with_every_verb(before) if path.name == "cli.md" else before
        after = refreshed(filled(page))
        if after != before:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(after, encoding="utf-8")
    if stale:
        print(f"{'out of date' if check else 'rewritten'}: {', '.join(stale)}")
    sys.exit(1 if stale and check else 0)


if __name__ == "__main__":
    main()
