"""A result as Markdown tables: for the terminal and for docs/benchmarks.md."""

from __future__ import annotations

from typing import Any

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def render(result: dict[str, Any]) -> str:
    parts = [_origin(result), _speed(result), _peers(result), _workers(result), _memory(result), _quality(result)]
    return "\n\n".join(part for part in parts if part)


def replace_measured(page: str, result: dict[str, Any]) -> str:
    """The page with this result between its two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page has no {BEGIN} … {END} to fill")
    return f"{before}{BEGIN}\n\n{render(result)}\n\n{END}{after}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as their contents; numbers stand to the right."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    right = [all(_is_number(row[column]) for row in rows) for column in range(len(header))]
    lines = [header, ["-" * (width - 1) + ":" if flush else "-" * width for width, flush in zip(widths, right, strict=True)], *rows]
    cells = ([_pad(cell, width, flush) for cell, width, flush in zip(line, widths, right, strict=True)] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _pad(cell: str, width: int, flush: bool) -> str:
    return cell.rjust(width) if flush else cell.ljust(width)


def _is_number(cell: str) -> bool:
    return cell == "–" or cell.lstrip("+-")[:1].isdigit()


def _origin(result: dict[str, Any]) -> str:
    machine, versions, method = result["machine"], result["versions"], result["method"]
    lines = [
        f"Measured on {result['date']} at commit {(result['commit'] or 'unknown')[:12]}"
        + (" with uncommitted changes" if result["uncommitted_changes"] else "")
        + f": {machine['processor']}, {machine['cores']} cores, kernels {machine['kernels']}, load average {machine['load_average']};"
        + f" Python {versions['python']}, lookalike {versions['lookalike']}. The best of {method['repetitions']} repetitions.",
        "",
    ]
    if result["generated"]:
        lines.insert(0, "**Generated text, not real text**: give a folder with --data for figures worth quoting.\n")
    for name, found in result["corpora"].items():
        lines.append(f"- {name}: {found['source']}; {found['documents']:,} documents, {found['mb']} MB")
    lines.append("- files: the english corpus cut into files of 64 KB")
    return "\n".join(lines)


def _speed(result: dict[str, Any]) -> str:
    header = ["job", "corpus", "peer", "ours MB/s (CPU)", "peer MB/s (CPU)", "ratio", "wanted", ""]
    return table(header, [_speed_row(row) for row in result["rows"]])


def _speed_row(row: dict[str, Any]) -> list[str]:
    wanted = "–" if row["wanted"] is None else f"{row['wanted']:g}×" + (f" (aim {row['aim']:g}×)" if row["aim"] else "")
    start = [row["job"], row["corpus"], row["peer"]]
    if "skipped" in row:
        return [*start, "–", "–", "–", wanted, row["skipped"]]
    verdict = {True: "ok", False: "miss", None: ""}[row["ok"]]
    agree = {True: "same result", False: "OTHER RESULT", None: ""}[row["agree"]]
    notes = ", ".join(note for note in (verdict, agree) if note)
    return [*start, f"{row['ours_mb_s']:.1f}", f"{row['peer_mb_s']:.2f}", _ratio(row), wanted, notes]


def _ratio(row: dict[str, Any]) -> str:
    """The ratio of the best repetitions, and from which to which the repetitions had it."""
    least, most = row.get("ratios", (row["ratio"], row["ratio"]))
    return f"{row['ratio']:.1f}×" + (f" ({least:g}–{most:g})" if least != most else "")


def _peers(result: dict[str, Any]) -> str:
    """What each peer was timed at, and on how much text."""
    asked: dict[str, str] = {}
    for row in result["rows"]:
        if "skipped" not in row:
            amount = f" On {row['peer_mb']:g} of {row['ours_mb']:g} MB." if row["peer_mb"] < row["ours_mb"] else ""
            asked.setdefault(f"{row['peer']} ({row['version']})", f"{row['computes']}.{amount}")
    return "\n".join(["What was timed:", "", *(f"- {peer}: {what}" for peer, what in asked.items())])


def _workers(result: dict[str, Any]) -> str:
    header = ["job (english)", "one worker MB/s (wall)", "two workers MB/s (wall)", "speed-up", "same bytes"]
    rows = [
        [row["job"], f"{row['one_mb_s']:.1f}", f"{row['two_mb_s']:.1f}", f"{row['speedup']:.2f}×", "yes" if row["same_bytes"] else "NO"]
        for row in result["workers"]
    ]
    return table(header, rows)


def _memory(result: dict[str, Any]) -> str:
    """What a job needs beside the texts."""
    rows = [
        [row["job"], row.get("skipped") or f"{row['growth_mb']:.1f}", f"{row['result_mb']:.1f}" if row.get("result_mb") else "–"]
        for row in result.get("memory", [])
    ]
    return table(["job (english)", "process grows by MB", "of which the result MB"], rows) if rows else ""


def _quality(result: dict[str, Any]) -> str:
    header = ["features", "Jaccard", "ideal RMSE", "ours RMSE", "ours bias", "pairs", "", "datasketch RMSE", "its pairs"]
    rows = []
    for row in result["quality"]:
        ours, theirs = row["ours"], row.get("datasketch")
        line = [f"{row['features']:,}", f"{row['jaccard']:.3f}", f"{row['ideal']:.4f}", f"{ours['rmse']:.4f}", f"{ours['bias']:+.4f}"]
        line += [f"{ours['pairs']:,}", "ok" if ours["ok"] else "miss"]
        rows.append(line + ([f"{theirs['rmse']:.4f}", f"{theirs['pairs']:,}"] if theirs else ["–", "–"]))
    return table(header, rows)
