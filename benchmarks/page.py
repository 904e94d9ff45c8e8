"""The page in a browser: how long a pair of long texts takes to open and to scroll, and a library of many documents.

    python benchmarks/page.py [--characters 1000000] [--documents 10000] [--json OUT]

Chromium (Debian's package) is driven by Playwright, without a screen. Times are those of the clock, from the click to the second
frame after the table stands; "cpu" is processor time of the service and of the page's main thread. The texts are generated: one is the
other with one line in ten edited, some left out, put in and moved.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import machine

import lookalike as la
from service import free_port, running, seconds_used

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
SCREENS = 60
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
SCROLLED = """async screens => {
  const frames = []; let last = performance.now();
  for (let i = 0; i < screens; i++) {
    scrollBy(0, innerHeight / 2); await new Promise(requestAnimationFrame);
    const now = performance.now(); frames.push(now - last); last = now;
  }
  return frames;
}"""


def texts(characters: int) -> tuple[str, str]:
    chance = random.Random(5)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(20_000)]
    lines: list[str] = []
    size = 0
    while size < characters:
        lines.append(" ".join(chance.choices(words, k=chance.randint(8, 60))) + ".")
        size += len(lines[-1]) + 1
    other = []
    for line in lines:
        kind = chance.random()
        if kind < 0.02:
            continue
        if kind < 0.12:
            parts = line.split()
            parts[chance.randrange(len(parts))] = "changed"
            line = " ".join(parts)
        if kind > 0.99:
            other.append(f"a line that was put in, {chance.random()}")
        other.append(line)
    third = len(other) // 3
    other = other[third : third + 20] + other[:third] + other[third + 20 :]
    return "\n".join(lines)[:characters], "\n".join(other)[:characters]


class Watched:
    """A tab, and what its main thread and the service use."""

    def __init__(self, page: Any, service: int) -> None:
        self.page, self._service = page, service
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used(self) -> tuple[float, float, float]:
        found = {each["name"]: each["value"] for each in self._session.send("Performance.getMetrics")["metrics"]}
        return time.perf_counter(), seconds_used(self._service), found["TaskDuration"]

    def opened(self, where: str, wanted: str) -> dict[str, float]:
        before = self.used()
        self.page.evaluate("where => location.hash = where", where)
        self.page.wait_for_selector(wanted, timeout=120_000)
        self.page.evaluate(SETTLED)
        seconds, service, page = (round(after - start, 3) for after, start in zip(self.used(), before, strict=True))
        return {"seconds": seconds, "cpu_of_service": service, "cpu_of_page": page}

    def scrolled(self) -> dict[str, float]:
        before = self.used()
        frames = self.page.evaluate(SCROLLED, SCREENS)
        _, _, page = (after - start for after, start in zip(self.used(), before, strict=True))
        return {
            "frame_ms_median": round(statistics.median(frames), 1),
            "frame_ms_most": round(max(frames), 1),
            "cpu_of_page_ms_per_step": round(page / SCREENS * 1000, 2),
            "rows_drawn": self.page.locator("table tr").count(),
        }


def measured(browser: Any, address: str, service: int) -> dict[str, Any]:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page.goto(f"{address}/?collection=pair")
    page.wait_for_selector("#in-left")
    tab = Watched(page, service)
    found: dict[str, Any] = {"pair": [], "library": []}
    for _ in range(3):
        page.evaluate("location.hash = '#/feedback'")
        page.wait_for_selector("button.primary")
        found["pair"].append(tab.opened("#/compare?a=%22a%22&b=%22b%22", "table.diff tbody tr"))
    found["pair, scrolled"] = tab.scrolled()
    page.goto(f"{address}/?collection=many#/feedback")
    page.wait_for_selector("button.primary")
    for _ in range(3):
        page.evaluate("location.hash = '#/feedback'")
        page.wait_for_selector("button.primary")
        found["library"].append(tab.opened("#/library", "table.list tbody td"))
    shown = page.locator(".controls .num")
    before, steps = tab.used(), 0
    while int(shown.inner_text().split()[0].replace(",", "")) < int(shown.inner_text().split()[2].replace(",", "")):
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.evaluate(SETTLED)
        steps += 1
    after = tab.used()
    found["library, to its end"] = {
        "seconds": round(after[0] - before[0], 2),
        "cpu_of_page": round(after[2] - before[2], 2),
        "steps": steps,
    }
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    found["library, scrolled"] = tab.scrolled()
    page.close()
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--characters", type=int, default=1_000_000)
    options.add_argument("--documents", type=int, default=10_000)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("there is no Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        store, port = Path(folder) / "store", free_port()
        with la.open(store, collection="pair", kinds="simhash") as index:
            index.add(zip("ab", texts(chosen.characters), strict=True))
        with la.open(store, collection="many", kinds="simhash,minhash") as index:
            index.add(
                (f"d{number}", f"document {number} about the river {number * 7} and its bridges") for number in range(chosen.documents)
            )
        command = [sys.executable, "-m", "lookalike", "serve", str(store), "--port", str(port), "--quiet"]
        with running(command, port, "/readyz") as process, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            found = measured(browser, f"http://127.0.0.1:{port}", process.pid)
            browser.close()
    result = machine.describe() | {"characters": chosen.characters, "documents": chosen.documents} | found
    print(json.dumps(result, indent=1))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
