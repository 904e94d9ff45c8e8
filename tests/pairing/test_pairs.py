"""What is given to ``pairs``, and what comes out."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import InputError

WORDS = [
    f"{a}{b}"
    for a in ("gar", "mon", "tel", "ris", "pol", "van", "kur", "sed")
    for b in ("den", "tain", "low", "ing", "ter", "mark", "ner", "field")
]


def prose(seed: object, words: int = 120) -> str:
    generator = random.Random(str(seed))
    return " ".join(generator.choices(WORDS, k=words))


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def ids(report: la.PairsReport) -> list[tuple[str, str]]:
    return [(Path(pair.left).name, Path(pair.right).name) for pair in report]


def test_ranked_with_scores(tmp_path: Path) -> None:
    long, short = prose("long", 60), prose("short", 15)
    write(
        tmp_path,
        {
            "a.txt": f"{prose(1)}. {long}",
            "b.txt": f"{long}. {prose(2)}",
            "c.txt": f"{prose(3)} {short}",
            "d.txt": f"{short} {prose(4)}",
            "e.txt": prose(5),
        },
    )
    report = la.pairs(tmp_path)
    assert ids(report) == [("a.txt", "b.txt"), ("c.txt", "d.txt")]
    first = report.pairs[0]
    assert first.score == pytest.approx(60 / 180, abs=0.02)
    assert first.shared == pytest.approx(60, abs=2)
    assert first.containment == pytest.approx((60 / 180, 60 / 180), abs=0.02)
    (row, _) = report.to_dicts()
    assert row.keys() == {"left", "right", "score", "shared", "containment", "passages"}
    assert row["passages"][0].keys() == {"left", "right", "tokens", "surprise"}
    json.dumps(row)


def test_the_longest_passage_comes_first(tmp_path: Path) -> None:
    shared = [prose(("shared", n), n) for n in (12, 40, 20)]
    write(tmp_path, {"a.txt": ". ".join([prose(1), *shared, prose(2)]), "b.txt": f" {prose(3, 5)} ".join([prose(4), *shared, prose(5)])})
    (pair,) = la.pairs(tmp_path)
    tokens = [passage.tokens for passage in pair.passages]
    assert tokens == sorted(tokens, reverse=True)
    assert tokens[0] >= 40


def test_accidents_are_no_passages(tmp_path: Path) -> None:
    """Eight tokens that everybody uses are less surprising than eight that nobody else does."""
    usual = "at the end of the day it is"
    rare = "violet engines whisper beneath forgotten granite observatories tonight"
    texts = {
        f"{n}.txt": f"{prose(n, 40)} " + " ".join(f"at the a{n}x{i} end of b{n}x{i} the day it is c{n}x{i}" for i in range(30))
        for n in range(4)
    }
    texts["0.txt"] += f" {usual} {rare}"
    texts["1.txt"] += f" {usual} zzz {rare}"
    write(tmp_path, texts)
    every = [passage.surprise for pair in la.pairs(tmp_path, min_surprise=-1000) for passage in pair.passages]
    assert len(every) == 2
    assert min(every) < 20 < max(every)
    report = la.pairs(tmp_path)
    shown = [report.things[0].parts[0].text[slice(*passage.left)] for pair in report for passage in pair.passages]
    assert shown == [rare]


@pytest.mark.parametrize("size", [8, 20, 60])
def test_what_many_share_does_not_count(tmp_path: Path, size: int) -> None:
    task = prose("task", 30)
    write(tmp_path, {f"{n:02}.txt": f"{task}. {prose(n)}" for n in range(size)})
    copied = prose("copied", 30)
    for name in ("03.txt", "05.txt"):
        path = tmp_path / name
        path.write_text(f"{path.read_text()} {copied}")
    report = la.pairs(tmp_path)
    assert ids(report) == [("03.txt", "05.txt")]
    (common,) = report.common
    assert common.things == size
    assert report.things[0].parts[0].text[slice(*common.span)] == task
    assert report.pairs[0].score == pytest.approx(30 / 150, abs=0.01)  # the task is no part of what is counted
    assert len(la.pairs(tmp_path, common=100)) == size * (size - 1) // 2


def test_a_template_does_not_count(tmp_path: Path) -> None:
    task = prose("task", 30)
    folder = write(tmp_path / "in", {f"{n}.txt": f"{task}. {prose(n)}" for n in range(3)})
    assert len(la.pairs(folder)) == 3
    assert len(la.pairs(folder, ignore=[task])) == 0
    (tmp_path / "task.txt").write_text(task)
    report = la.pairs(folder, ignore=[tmp_path / "task.txt"])
    assert len(report) == 0
    assert [why for _, _, why in report.masks[report.ids[0]]] == ["ignored"]


def test_copies_are_counted_and_not_each_with_each(tmp_path: Path) -> None:
    text = prose("same", 50)
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": text.upper() if n % 2 else text}) + "\n" for n in range(3000)))
    report = la.pairs(path, limit=10)
    assert report.total == 3000 * 2999 // 2
    assert len(report) == 10
    assert all(pair.score == 1.0 and pair.containment == (1.0, 1.0) and pair.passages[0].tokens == 50 for pair in report)
    assert any("the best 10 of" in note for note in report.notes)


def test_copies_share_what_their_original_shares(tmp_path: Path) -> None:
    shared = prose("shared", 40)
    first = f"{prose(1)}. {shared}"
    write(tmp_path, {"a.txt": f"{shared} {prose(2)}", "b.txt": first, "c.txt": f"\n\n{first.upper()}", "d.txt": prose(4)})
    report = la.pairs(tmp_path)
    assert ids(report) == [("b.txt", "c.txt"), ("a.txt", "b.txt"), ("a.txt", "c.txt")]
    texts = {thing.id: thing.parts[0].text for thing in report.things}
    for pair in report:
        passage = pair.passages[0]
        assert texts[pair.left][slice(*passage.left)].lower() == texts[pair.right][slice(*passage.right)].lower()


def test_near_copies_of_more_than_half_are_found_all_the_same(tmp_path: Path) -> None:
    """Twelve of twenty hand in the same essay, each with a word of his own: that is no template."""
    essay = prose("essay", 200)
    texts = {f"{n:02}.txt": f"{essay} {'own' * (n + 1)}" for n in range(12)} | {f"{n}.txt": prose(n) for n in range(12, 20)}
    report = la.pairs(write(tmp_path, texts))
    assert report.total == 66
    assert [len(group) for group in report.clusters()] == [12]


def test_a_passage_of_all_gives_no_pairs(tmp_path: Path) -> None:
    shared = prose("shared", 40)
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": f"{prose(n, 30)} {shared} {prose(-n - 1, 30)}"}) + "\n" for n in range(2000)))
    report = la.pairs(path)
    assert report.total < 2000
    assert report.common[0].things == 2000


def test_submissions(tmp_path: Path) -> None:
    shared = prose("shared", 40)
    write(
        tmp_path,
        {
            "anna/one.txt": prose(1),
            "anna/two.txt": f"{prose(2)} {shared}",
            "ben/text.txt": f"{shared} {prose(3)}",
            "ben/more/notes.txt": prose(4),
        },
    )
    with zipfile.ZipFile(tmp_path / "cleo.zip", "w") as archive:
        archive.writestr("essay.txt", f"{prose(5)} {shared}")
        archive.writestr("readme.txt", prose(6))
    report = la.pairs(tmp_path)
    assert sorted(Path(id_).name for id_ in report.ids) == ["anna", "ben", "cleo.zip"]
    assert len(report) == 3
    row = next(row for row in report.to_dicts() if row["left"].endswith("anna") and row["right"].endswith("cleo.zip"))
    assert row["passages"][0]["left_file"].endswith("anna/two.txt")
    assert row["passages"][0]["right_file"].endswith("cleo.zip/essay.txt")
    assert any("3 submissions of 6 files" in note for note in report.notes)
    assert len(la.pairs(tmp_path, group_by="file").ids) == 6
    several = la.pairs([tmp_path / "anna", tmp_path / "ben"])
    assert [Path(id_).name for id_ in several.ids] == ["anna", "ben"]


def test_a_loose_file_makes_no_submissions(tmp_path: Path) -> None:
    write(tmp_path, {"anna/a.txt": prose(1), "ben/b.txt": prose(2), "c.txt": prose(3)})
    assert len(la.pairs(tmp_path).ids) == 3
    assert sorted(Path(id_).name for id_ in la.pairs(tmp_path, group_by="folder").ids) == ["anna", "ben", "c.txt"]


def test_a_store(tmp_path: Path) -> None:
    shared = prose("shared", 40)
    documents = [("a", f"{prose(1)} {shared}"), ("b", f"{shared} {prose(2)}"), ("c", prose(3))]
    with la.open(tmp_path / "s.lookalike") as index:
        index.add(documents)
    report = la.pairs(tmp_path / "s.lookalike")
    assert [(pair.left, pair.right) for pair in report] == [("a", "b")]
    files = la.pairs(write(tmp_path / "files", dict(documents)))
    assert [pair.score for pair in files] == [pair.score for pair in report]
    with la.open(tmp_path / "i.lookalike") as index:
        index.add([(1, documents[0][1]), ("1", documents[1][1])])
    assert sorted(la.pairs(tmp_path / "i.lookalike").ids) == ["1", "1 (2)"]
    with la.open(tmp_path / "c.lookalike") as index:
        index.add(
            [
                ("a.py", "x = [f(i) for i in range(3)]\nprint(x, 'end', 5)\n" * 9),
                ("b.py", "y = [g(j) for j in range(4)]\nprint(y, 'e', 7)\n" * 9),
            ]
        )
    assert la.pairs(tmp_path / "c.lookalike", kind="code").pairs[0].score == 1.0
    with la.open(tmp_path / "n.lookalike", keep_text=False) as index:
        index.add(documents)
    with pytest.raises(InputError, match="keeps no texts"):
        la.pairs(tmp_path / "n.lookalike")
    with pytest.raises(InputError, match="give it alone"):
        la.pairs([tmp_path / "s.lookalike", tmp_path / "files"])


def test_pages(tmp_path: Path) -> None:
    pytest.importorskip("turbohtml")

    def page(title: str, text: str, rows: int) -> str:
        items = "".join(f'<li class="item"><a href="/{n}">item {n}</a></li>' for n in range(rows))
        return f"<html><head><title>{title}</title></head><body><nav><ul>{items}</ul></nav><main><h1>{title}</h1><p>{text}</p></main></body></html>"

    shared = prose("shared", 60)
    write(
        tmp_path,
        {
            "a.html": page("one", f"{prose(1)} {shared}", 9),
            "b.html": page("two", prose(2), 9),
            "c.html": f"<html><body><div><table><tr><td>{shared} {prose(3)}</td></tr></table></div></body></html>",
        },
    )
    report = la.pairs(tmp_path, kind="page")
    found = dict(zip(ids(report), report, strict=True))
    assert found["a.html", "b.html"].similarity is not None
    assert found["a.html", "b.html"].passages == ()
    assert found["a.html", "c.html"].passages


def test_records(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "name": "Anna Smith", "city": "Berlin", "amount": 10.5},
        {"id": "b", "name": "Anna Smith", "city": "Berlin", "amount": 10.5},
        {"id": "c", "name": "Zhang Wei", "city": "Shanghai", "amount": 99.0},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = la.pairs(path, kind="record")
    assert [(pair.left, pair.right, pair.score) for pair in report] == [("a", "b", 1.0)]
    with pytest.raises(InputError, match="records have none"):
        la.pairs(path, kind="record", leave_out=["quotes"])


def test_clusters_matrix_and_tables(tmp_path: Path) -> None:
    one, two = prose("one", 40), prose("two", 20)
    write(tmp_path, {"a.txt": f"{prose(1)} {one}", "b.txt": f"{one}. {prose(2)}. {two}", "=c.txt": f"{two} {prose(3)}", "d.txt": prose(4)})
    report = la.pairs(tmp_path)
    names = [[Path(id_).name for id_ in group] for group in report.clusters()]
    assert sorted(names[0]) == ["=c.txt", "a.txt", "b.txt"]
    assert [len(group) for group in report.clusters(0.2)] == [2]
    matrix = report.matrix()
    assert all(matrix[i][i] == 1 for i in range(4))
    assert all(matrix[i][j] == matrix[j][i] for i in range(4) for j in range(4))
    assert sorted(score for row in matrix for score in row if 0 < score < 1) == sorted(2 * [pair.score for pair in report])
    table = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [float(row["score"]) for row in table] == [pair.score for pair in report]
    assert len(list(csv.reader(io.StringIO(report.matrix_csv())))) == 5
    (tmp_path / "t.csv").write_text("id,text\n" + "\n".join(f'"=cmd({n})","{prose("x", 30)}"' for n in range(2)))
    assert "\n'=cmd(0),'=cmd(1)," in la.pairs(tmp_path / "t.csv").to_csv()


def test_the_order_of_files_changes_no_score(tmp_path: Path) -> None:
    shared = [prose(("s", n), 20 + n) for n in range(3)]
    texts = {f"{n}.txt": f"{prose(n)} {shared[n % 3]} {shared[(n + 1) % 3]}" for n in range(5)}
    folder = write(tmp_path, texts)
    there = la.pairs([folder / name for name in texts])
    back = la.pairs([folder / name for name in reversed(texts)])
    assert {frozenset(names): pair.score for names, pair in zip(ids(there), there, strict=True)} == {
        frozenset(names): pair.score for names, pair in zip(ids(back), back, strict=True)
    }


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "file"},
        {"threshold": 1.5},
        {"threshold": "x"},
        {"common": 0},
        {"min_length": 1},
        {"min_length": 10**9},
        {"min_surprise": float("nan")},
        {"min_surprise": "x"},
        {"group_by": "student"},
        {"limit": 0},
        {"ignore": "template.txt"},
        {"ignore": [3]},
        {"language": "klingon", "kind": "code"},
        {"on_problem": 3},
    ],
)
def test_wrong_options(tmp_path: Path, options: dict[str, object]) -> None:
    write(tmp_path, {"a.py": "x = 1", "b.py": "y = 2"})
    with pytest.raises(la.LookalikeError):
        la.pairs(tmp_path, **options)  # type: ignore[arg-type]
