from __future__ import annotations

import csv
import gc
import json
import re
import weakref
from collections.abc import Iterator
from datetime import date, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.comparison.edits import edits
from lookalike.drafts.aggregate import MAX_GROUPS, NONE, OTHERS
from lookalike.drafts.judge import USABLE, VERDICTS
from lookalike.drafts.row_files import safe_cell

ROOT = Path(__file__).parents[2]
DRAFTS = ROOT / "examples" / "drafts.jsonl"
DRAFT = "In conclusion, the bus runs every ten minutes. The fare stays the same for everyone."
KEPT = "The bus runs every ten minutes. The fare stays the same for everyone."

MORE = "Children under six do not pay at all. Dogs need a ticket of their own. On holidays there is no bus after midnight."


@pytest.fixture(scope="module")
def report() -> la.FeedbackReport:
    return la.feedback(DRAFTS, by=["model", "author"])


class TestRows:
    def test_shares_are_those_of_the_edits(self) -> None:
        (row,) = la.feedback([(DRAFT, KEPT)]).rows
        found = edits(DRAFT, KEPT)
        assert [row.kept, row.moved, row.reworded, row.deleted, row.inserted] == [
            found.kept,
            found.moved,
            found.reworded,
            found.deleted,
            found.inserted,
        ]
        assert row.edit_share == la.edit_share(DRAFT, KEPT)
        assert (row.draft_characters, row.final_characters) == (len(DRAFT), len(KEPT))

    @pytest.mark.parametrize(
        ("final", "verdict"),
        [
            (DRAFT, "used as is"),
            (DRAFT.upper(), "used as is"),
            (KEPT, "light edit"),
            ("The fare stays the same for everyone.", "heavy edit"),
            ("You pay as before, and the bus runs six times an hour.", "rewritten"),
            ("水果店今天不开门", "discarded"),
            ("", "discarded"),
            (f"{DRAFT} {MORE}", "extended"),
            (f"{MORE} {DRAFT} {MORE}", "extended"),
            (f"{KEPT} {MORE}", "extended"),
            (f"{DRAFT} Thank you.", "light edit"),
            (f"{MORE} {MORE}", "discarded"),
        ],
    )
    def test_verdicts(self, final: str, verdict: str) -> None:
        assert la.feedback([(DRAFT, final)]).rows[0].verdict == verdict

    def test_bounds(self) -> None:
        share = la.edit_share(DRAFT, KEPT)
        for i, verdict in enumerate(name for name in VERDICTS if name != "extended"):
            bounds = [share - 0.001] * i + [share] * (4 - i)
            assert la.feedback([(DRAFT, KEPT)], bounds=bounds).rows[0].verdict == verdict

    @pytest.mark.parametrize(
        "bounds", [(0, 0.3, 1), (0.3, 0, 0.7, 1), (0, 0.3, 0.7, 1.1), (0, float("nan"), 0.7, 1), "abcd", (0, True, 1, 1)]
    )
    def test_wrong_bounds(self, bounds: Any) -> None:
        with pytest.raises(la.InputError, match="bounds"):
            la.feedback([(DRAFT, KEPT)], bounds=bounds)

    def test_what_was_added_is_a_quantity_of_its_own(self) -> None:
        (row,) = la.feedback([(DRAFT, f"{DRAFT} {MORE}")]).rows
        assert (row.kept, row.deleted, row.moved) == (1, 0, 0)
        assert row.added == pytest.approx(len(MORE.replace(" ", "")) / len(DRAFT.replace(" ", "")))
        assert row.to_dict()["added"] == round(row.added, 6)
        found = la.feedback([(DRAFT, f"{DRAFT} {MORE}"), (DRAFT, DRAFT)]).to_dict()["aggregates"]
        assert found["added"]["mean"] == pytest.approx(row.added / 2, abs=1e-6)
        assert found["usable"] == 1

    def test_only_nothing_is_rounded_to_nothing(self) -> None:
        text = "word " * 400_000
        (row,) = la.feedback([(text, f"{text}.")]).rows
        assert row.verdict == "light edit"
        assert row.to_dict()["edit_share"] > 0

    def test_rows_of_a_stream(self, tmp_path: Path) -> None:
        seen: list[Any] = []
        found = la.feedback([(DRAFT, KEPT)] * 3, keep_rows=False, on_row=seen.append)
        assert len(seen) == found.pairs == 3
        with pytest.raises(la.InputError, match="keep_rows"):
            _ = found.rows
        with pytest.raises(la.InputError, match="keep_rows"):
            found.to_csv(tmp_path / "unused.csv")
        assert not list(tmp_path.iterdir())

    def test_pairs_are_let_go(self) -> None:
        class Text(str):
            __slots__ = ("__weakref__",)

        alive: weakref.WeakSet[Any] = weakref.WeakSet()
        most = 0

        def pairs() -> Iterator[tuple[str, str]]:
            nonlocal most
            for i in range(200):
                draft = Text(f"draft number {i} with some words")
                alive.add(draft)
                gc.collect(0)
                most = max(most, len(alive))
                yield draft, f"final number {i}"

        assert la.feedback(pairs(), keep_rows=False).pairs == 200
        assert most < 5


SENTENCES = [
    "The bus runs every ten minutes.",
    "The fare stays the same for everyone.",
    "Please keep your ticket, the receipt and the card.",
    "会议室预订系统已经升级。",
    "员工可以在手机上查看空闲时间，并直接预订。",
    "ＦＵＬＬ　ｗｉｄｔｈ letters, and half.",
    "x",
]
sentences = st.lists(st.sampled_from(SENTENCES), max_size=6)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A draft, and what somebody made of it: words and sentences moved, replaced, deleted and added."""
    words = " ".join(draw(sentences.filter(bool))).split()
    after = list(words)
    for _ in range(draw(st.integers(0, 6))):
        start, length, to = (draw(st.integers(0, 30)) for _ in range(3))
        cut = after[start : start + length]
        after[start : start + length] = draw(st.lists(st.sampled_from(["new", "新的", "buses", "，"]), max_size=3))
        if draw(st.booleans()):
            after[to:to] = cut
    added = draw(sentences)
    return " ".join(words), " ".join([*after, *added]) if draw(st.booleans()) else " ".join([*added, *after])


class TestVerdicts:
    """Kept, edit share, added and the verdict never contradict each other."""

    @given(edited())
    @settings(max_examples=300, deadline=None)
    def test_no_contradictions(self, pair: tuple[str, str]) -> None:
        found = la.feedback([pair])
        if not found.rows:
            return
        (row,) = found.rows
        left = row.kept + row.moved
        assert (row.verdict == "used as is") == (row.edit_share == 0)
        assert row.edit_share > 0 or row.kept == 1
        assert row.kept < 0.9 or row.verdict in USABLE
        assert row.kept > 0.1 or row.moved > 0.1 or row.verdict in ("heavy edit", "rewritten", "discarded")
        assert row.verdict not in USABLE or left >= 0.5
        assert row.verdict != "extended" or row.added > 0
        assert row.verdict != "light edit" or row.edit_share <= 0.3 or row.added == 0
        assert row.verdict in USABLE or row.edit_share > 0.3 or left < 0.5
        assert found.summary.usable == (row.verdict in USABLE)
        assert [name for name, count in found.to_dict()["aggregates"]["verdicts"].items() if count] == [row.verdict]

    @given(*[st.floats(0, 1)] * 5, st.floats(0, 3))
    def test_more_kept_and_less_edited_is_never_worse(
        self, share: float, less: float, kept: float, moved: float, lost: float, added: float
    ) -> None:
        moved = moved * (1 - kept)
        reworded = (1 - kept - moved) / 2
        worse = la.Bounds().verdict(max(share, less), kept * lost, moved * lost, reworded, added)
        better = la.Bounds().verdict(min(share, less), kept, moved, reworded, added)
        assert VERDICTS.index(better) <= VERDICTS.index(worse)

    @given(edited(), sentences)
    @settings(max_examples=100, deadline=None)
    def test_a_draft_that_was_only_extended_is_usable(self, pair: tuple[str, str], added: list[str]) -> None:
        draft = pair[0]
        (row,) = la.feedback([(draft, "\n".join([draft, *added]))]).rows
        assert row.kept == 1
        assert row.verdict in USABLE


class TestAggregates:
    def test_overall(self, report: la.FeedbackReport) -> None:
        rows = report.rows
        found = report.to_dict()["aggregates"]
        assert report.pairs == len(rows) == found["pairs"] == 12
        assert found["edit_share"]["mean"] == pytest.approx(sum(row.edit_share for row in rows) / 12, abs=1e-6)
        assert found["moved"]["mean"] == pytest.approx(sum(row.moved for row in rows) / 12, abs=1e-6)
        assert found["verdicts"] == {name: sum(row.verdict == name for row in rows) for name in VERDICTS}
        assert found["usable"] == pytest.approx(sum(row.verdict in USABLE for row in rows) / 12, abs=1e-6)
        assert sum(found["distribution"]) == 12

    def test_by(self, report: la.FeedbackReport) -> None:
        for column in ("model", "author"):
            for value, summary in report.by(column).items():
                rows = [row for row in report.rows if row.groups[column] == value]
                assert summary.pairs == len(rows) == 6
                assert summary.kept.mean == pytest.approx(sum(row.kept for row in rows) / 6)
        assert set(report.to_dict()["by"]) == {"model", "author"}

    def test_by_a_column_afterwards(self) -> None:
        found = la.feedback(DRAFTS)
        assert set(found.to_dict()["by"]) == {"model"}
        assert {name: each.to_dict() for name, each in found.by("author").items()} == la.feedback(DRAFTS, by="author").to_dict()["by"][
            "author"
        ]
        with pytest.raises(la.InputError, match="mood"):
            found.by("mood")
        with pytest.raises(la.InputError, match="author"):
            la.feedback(DRAFTS, keep_rows=False).by("author")

    def test_a_column_that_is_nowhere(self) -> None:
        with pytest.raises(la.InputError, match="by='mood': no row has a column 'mood'; the columns are 'draft', 'final'"):
            la.feedback([(DRAFT, KEPT)], by="mood")
        some = la.feedback([(DRAFT, KEPT), {"draft": DRAFT, "final": KEPT, "mood": "good"}], by="mood")
        assert list(some.by("mood")) == [NONE, "good"]
        assert la.feedback([(DRAFT, KEPT)]).to_dict()["by"] == {}

    @pytest.mark.parametrize("by", ["", "kept", "id", 7, [None]])
    def test_wrong_columns(self, by: Any) -> None:
        with pytest.raises(la.InputError, match="by="):
            la.feedback([(DRAFT, KEPT)], by=by)

    def test_values_of_any_type(self) -> None:
        values = [None, 3, True, ["x"], {"b": 1, "a": 2}, "x" * 5000, "x" * 5001, float("nan")]
        found = la.feedback([{"draft": DRAFT, "final": KEPT, "model": value} for value in values])
        names = list(found.by("model"))
        assert {NONE, "3", "true", '["x"]', '{"a": 2, "b": 1}'} < set(names)
        assert len(names) == 7  # the two nulls are one
        assert max(map(len, names)) < 220

    def test_too_many_values(self) -> None:
        rows = [{"draft": "a b", "final": "a b", "model": str(i)} for i in range(MAX_GROUPS + 5)]
        groups = la.feedback(rows).by("model")
        assert len(groups) == MAX_GROUPS + 1
        assert groups[OTHERS].pairs == 5

    def test_most_edited(self, report: la.FeedbackReport) -> None:
        shares = [pair.row.edit_share for pair in report.most_edited]
        assert shares == sorted((row.edit_share for row in report.rows if row.edit_share), reverse=True)

    def test_often_removed(self, report: la.FeedbackReport) -> None:
        found = {entry.text: entry for entry in report.deleted_passages}
        assert found["总而言之"].count == 3
        assert found["It is important to note that"].ids == ["d04", "d10"]

    def test_nothing(self) -> None:
        found = la.feedback([])
        assert found.pairs == 0
        assert found.to_dict()["aggregates"]["usable"] == 0
        assert "0 pairs" in found.to_html()


class TestTrend:
    def trend(self, days: list[date]) -> list[dict[str, Any]]:
        return la.feedback([{"draft": DRAFT, "final": KEPT, "time": day} for day in days]).trend()

    @pytest.mark.parametrize(
        ("length", "unit", "points"),
        [(0, "day", 1), (31, "day", 32), (32, "week", 5), (320, "week", 46), (321, "month", 11), (1831, "year", 6)],
    )
    def test_units(self, length: int, unit: str, points: int) -> None:
        start = date(2024, 1, 1)
        found = self.trend([start + timedelta(days=i) for i in range(length + 1)])
        assert ({point["unit"] for point in found}, len(found)) == ({unit}, points)
        assert sum(point["pairs"] for point in found) == length + 1
        assert [point["from"] for point in found] == sorted(point["from"] for point in found)

    def test_weeks_begin_on_monday(self) -> None:
        found = self.trend([date(2024, 1, 7), date(2024, 1, 8), date(2024, 3, 1)])
        assert [point["from"] for point in found] == ["2024-01-01", "2024-01-08", "2024-02-26"]

    def test_the_ends_of_the_calendar(self) -> None:
        assert [point["from"] for point in self.trend([date.max, date.min])] == ["0001-01-01", "9999-01-01"]
        assert self.trend([date.min, date.min + timedelta(days=40)])[0]["from"] == "0001-01-01"

    def test_many_days_are_merged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        days = [date(2020, 1, 1) + timedelta(days=i) for i in range(400)]
        plain = self.trend(days)
        monkeypatch.setattr("lookalike.drafts.aggregate.MAX_PERIODS", 20)
        assert self.trend(days) == plain

    def test_the_day_is_the_one_written_down(self) -> None:
        rows = [{"draft": "a", "final": "a", "time": "2024-01-01T23:30:00-08:00"}, {"draft": "a", "final": "a", "time": "20240102T010203Z"}]
        assert [row.time for row in la.feedback(rows).rows] == [date(2024, 1, 1), date(2024, 1, 2)]


class TestWorkers:
    def test_the_same_answer(self, report: la.FeedbackReport, tmp_path: Path) -> None:
        source = [json.loads(line) for line in DRAFTS.read_text(encoding="utf-8").splitlines()] * 20 + [None, {"draft": "x"}]
        one, two = (la.feedback(source, workers=n, rows_out=tmp_path / f"{n}.csv") for n in (1, 2))
        assert one.to_dict(rows=True) == two.to_dict(rows=True)
        assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()

    @pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2", 10_000])
    def test_wrong_numbers(self, workers: Any) -> None:
        with pytest.raises(la.InputError, match="workers="):
            la.feedback([(DRAFT, KEPT)], workers=workers)


def plain_cell(cell: str) -> str:
    """The inverse of ``safe_cell``."""
    return cell[1:] if cell.startswith("'") else cell


class TestRowFiles:
    @given(st.text())
    def test_cells_can_be_read_back(self, text: str) -> None:
        assert plain_cell(safe_cell(text)) == text
        assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))

    def test_numbers_stay_numbers(self) -> None:
        assert (safe_cell(-1.5), safe_cell(None)) == (-1.5, None)

    def test_csv(self, report: la.FeedbackReport, tmp_path: Path) -> None:
        report.to_csv(tmp_path / "rows.csv")
        with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["id"] for row in rows] == [row.id for row in report.rows]
        assert [float(row["edit_share"]) for row in rows] == [round(row.edit_share, 6) for row in report.rows]
        assert {row["author"] for row in rows} == {"林", "Mara"}

    def test_formulas(self, tmp_path: Path) -> None:
        evil = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'quoted", 'a"b,c\nd']
        pairs = [{"id": value, "draft": DRAFT, "final": KEPT, "=column": value} for value in evil]
        la.feedback(pairs, by="=column").to_csv(tmp_path / "rows.csv")
        with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert [plain_cell(row[0]) for row in rows] == evil
        assert "'=column" in header
        assert not any(re.match(r"[=+\-@\t\r]", cell) for row in [header, *rows] for cell in row)

    def test_json_lines(self, tmp_path: Path) -> None:
        found = la.feedback(DRAFTS, rows_out=tmp_path / "rows.jsonl")
        lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == [row.to_dict() for row in found.rows]

    def test_other_endings(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match=r"\.jsonl or \.csv"):
            la.feedback(DRAFTS, rows_out=tmp_path / "rows.xlsx")


class Checker(HTMLParser):
    """Balanced tags, and everything that could load or run something."""

    VOID = frozenset(("meta", "br", "line", "rect", "circle", "polyline"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.suspicious: list[tuple[str, Any]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in ("script", "img", "link", "iframe", "a", "b2"):
            self.suspicious.append((tag, attrs))
        self.suspicious += [(tag, pair) for pair in attrs if pair[0].startswith("on") or pair[0] in ("src", "href", "style")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


class TestPage:
    def checked(self, html: str) -> Checker:
        checker = Checker()
        checker.feed(html)
        checker.close()
        assert checker.open == []
        assert checker.suspicious == []
        assert "http" not in html.replace("http-equiv", "")
        assert "url(" not in html
        assert "@import" not in html
        return checker

    def test_has_everything(self, report: la.FeedbackReport, tmp_path: Path) -> None:
        html = report.to_html(tmp_path / "report.html")
        assert (tmp_path / "report.html").read_text(encoding="utf-8") == html
        text = self.checked(html).text
        for part in (
            "Distribution",
            "By model",
            "By author",
            "Over time",
            "Most edited",
            "Often removed",
            "fern-1",
            "总而言之",
            "empty final",
        ):
            assert part in text
        assert html.count("<svg") == 4

    def test_user_text_is_escaped(self) -> None:
        evil = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"
        rows = [
            {"id": evil, "draft": f"{evil} {i} In conclusion, more of it", "final": f"{evil} {i} done", "model": evil, "time": evil}
            for i in range(3)
        ]
        html = la.feedback([*rows, {evil: evil}], by=["model", evil]).to_html(title=evil)
        assert evil in self.checked(html).text

    def test_nothing_hides_in_user_text(self) -> None:
        evil = "a\x1b[31mb\x00c\u202egnp.exe\u2066\u200b\ud800"
        rows = [
            {"id": evil, "draft": f"{evil} {i} In conclusion, more of it", "final": f"{evil} {i} done", "model": evil} for i in range(3)
        ]
        report = la.feedback([*rows, {evil: evil}], by=["model", evil])
        html = report.to_html(title=evil)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html)
        assert "U+202E" in self.checked(html).text

    def test_without_edits_groups_and_times(self) -> None:
        text = self.checked(la.feedback([(DRAFT, DRAFT)]).to_html()).text
        assert "Over time" not in text
        assert "Most edited" not in text

    def test_many_groups(self) -> None:
        rows = [{"draft": "a b", "final": "a b", "model": f"模型{i}" * 9} for i in range(40)]
        assert "The 20 largest of 40 groups" in self.checked(la.feedback(rows).to_html()).text
