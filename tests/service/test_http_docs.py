"""The commands of docs/http.md run, in order, against a real service."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from running_service import running

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl: apt-get install curl")
def test_the_commands_run(tmp_path: Path) -> None:
    block = next(text for text in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "curl" in text)
    with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as service:
        script = re.sub(
            r"(?m)(^curl .*?)(?=^curl|^printf|\Z)",
            lambda found: f"{found[1].rstrip()}\necho\n",
            block.replace("localhost:8765", f"127.0.0.1:{service.port}"),
            flags=re.DOTALL,
        )
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    assert done.returncode == 0, done.stderr
    assert answers[0] == {"id": "bridge", "status": "added", "version": 1}
    assert answers[1]["matches"][0]["id"] == "bridge"
    assert [answer["status"] for answer in answers[2:4]] == ["added", "skipped"]
    assert answers[4]["admitted"] is False
    assert answers[4]["match"]["id"] == "bridge"
    assert "clusters" in answers[5]
    assert answers[6]["collections"] == ["default", "november"]
    assert answers[7]["aliases"] == {"current": "november"}
    assert answers[9]["id"] == "ferry"
    assert answers[10]["removed"] == 0
    assert answers[11]["documents"] == ["bridge", 1]
