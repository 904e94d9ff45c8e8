"""The benchmark runs without data, and the direct implementation in it agrees with ours where both must."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    out = tmp_path_factory.mktemp("bench") / "out.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "pages.py"), "--pages", "4", "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = json.loads(out.read_text(encoding="utf-8"))
    return found


def test_every_measure_has_a_row(result: dict[str, dict[str, dict[str, dict[str, float]]]]) -> None:
    rows = result["quality"]["generated"]
    assert set(rows) == {"score", "trigrams", "structure", "style", "links", "forms", "text", "content"}
    assert all(0 <= value <= 1 for row in rows.values() for value in row.values())
    assert rows["text"]["auc"] == 1.0  # copies share most of their words, other pages next to none


def test_direct_and_ours_agree_in_order() -> None:
    code = (
        "import sys; sys.path.insert(0, 'benchmarks')\n"
        "import pages, lookalike as la\n"
        "html = '<html><head><title>{}</title></head><body><p class=\"a b\">{}</p><b id=x>{}</b></body></html>'\n"
        "a, b = html.format('T', 'abc', 'x'), html.format('T', 'abc', 'yyy')\n"
        "print(pages.direct(a, b) == la.compare(la.page(a), la.page(b), method='tags', align='order').score)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "True"
