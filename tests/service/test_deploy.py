"""What is shipped to run the service fits the service: its commands exist, its dashboard asks for counters that there are."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from lookalike.cli.serve import command as serve
from running_service import running

DEPLOY = Path(__file__).parents[2] / "deploy"


def parsed(words: list[str]) -> dict[str, Any]:
    """The arguments of a command line ``lookalike serve …``, as the command line reads them."""
    assert words[0].rpartition("/")[2] == "lookalike"
    assert words[1] == "serve"
    context: click.Context = serve.make_context("serve", words[2:])
    return context.params


def test_the_image_starts_what_there_is() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    found = parsed(json.loads(re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)[-1]))
    assert found["host"] == "0.0.0.0"
    assert found["token_file"] == Path("/run/secrets/tokens")
    assert "\nUSER lookalike\n" in text
    extras = set(re.findall(r"\[([a-z,]+)\]'", text))
    assert len(extras) == 1
    known = (DEPLOY.parent / "pyproject.toml").read_text()
    assert [name for name in extras.pop().split(",") if not re.search(rf"^{name} = \[", known, re.MULTILINE)] == []


def test_the_image_is_made_as_it_should_be() -> None:
    """What a linter of images asks for: versions of images, nothing left of packages' lists, no shell between a signal and the service."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    assert {name for name, _ in steps} <= {"FROM", "RUN", "COPY", "USER", "WORKDIR", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"}
    for name, rest in steps:
        if name == "FROM":
            assert re.fullmatch(r"[\w./-]+:\d[\w.-]*( AS \w+)?", rest)
        if name == "RUN" and "apt-get install" in rest:
            assert "--no-install-recommends" in rest
            assert rest.endswith("rm -rf /var/lib/apt/lists/*")
        if name == "RUN" and "pip" in rest:
            assert "--no-cache-dir" in rest
        if name == "CMD":
            assert rest.startswith("[")
    last = max(place for place, (name, _) in enumerate(steps) if name == "FROM")
    assert [rest for name, rest in steps[last:] if name == "USER"] == ["lookalike"]
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert {".*", "build", "tests"} <= set(ignored)  # also what git and a virtual environment keep


def test_the_composition() -> None:
    yaml = pytest.importorskip("yaml")
    data = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    shell = data["services"]["lookalike"]["command"]
    assert shell[:2] == ["sh", "-c"]
    words = shlex.split(shell[2].replace("$$", "$"))
    found = parsed(words[words.index("exec") + 1 :])
    assert found["store"] == "postgresql://lookalike@database/lookalike"
    for service in data["services"].values():
        assert service["mem_limit"]
        assert service["healthcheck"]["test"]
        assert set(service["secrets"]) <= set(data["secrets"])
    assert all(port.startswith("127.0.0.1:") for port in data["services"]["lookalike"]["ports"])


def test_the_unit(tmp_path: Path) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "lookalike.service")
    found = parsed(shlex.split(unit["Service"]["ExecStart"]))
    assert found["store"].startswith(f"/var/lib/{unit['Service']['StateDirectory']}")
    if shutil.which("systemd-analyze"):
        text = (
            (DEPLOY / "lookalike.service")
            .read_text()
            .replace("/opt/lookalike/bin/lookalike", "/bin/true")
            .replace("User=lookalike", "User=root")
        )
        (tmp_path / "lookalike.service").write_text(text)
        done = subprocess.run(["systemd-analyze", "verify", tmp_path / "lookalike.service"], capture_output=True, text=True)
        assert "lookalike.service" not in done.stderr, done.stderr


def test_the_dashboard_asks_for_counters_that_there_are(tmp_path: Path) -> None:
    data = json.loads((DEPLOY / "grafana.json").read_text())
    numbers = [panel["id"] for panel in data["panels"]]
    assert min(numbers) >= 1
    assert len(set(numbers)) == len(numbers)
    asked = {name for panel in data["panels"] for target in panel["targets"] for name in re.findall(r"lookalike_\w+", target["expr"])}
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as service:
        service.ask("PUT", "/documents/a", {"text": "one document"})
        # The health check of the image, as it is but for the port.
        check = json.loads(re.findall(r"^  CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[0])
        subprocess.run([sys.executable, *(word.replace("8765", str(service.port)) for word in check[1:])], check=True)
        there = set(re.findall(r"^(lookalike_\w+)", service.raw("GET", "/metrics")[2].decode(), re.MULTILINE))
    assert asked - there == set()
