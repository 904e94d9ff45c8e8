"""Searching an index: which way, what for, and what was found. The ways themselves are brought by the kinds, see ``stores.kinds``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_bool, check_share, check_str
from lookalike.comparison.score import text_score
from lookalike.corpus.contents import contents, read_contents, readable
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.files.model import FileText, Place
from lookalike.fingerprints.every import parse_record
from lookalike.fingerprints.record import RecordPrint, record
from lookalike.index.choosing import Fitting, arrays_counting, find_counting, fitting, rows_of
from lookalike.io import NotText
from lookalike.markup.extraction import page_text
from lookalike.markup.page import Page
from lookalike.segments.hamming import NO_LIMIT, check_limit
from lookalike.stores.base import OnProgress, Reader, Store
from lookalike.stores.clusters import Clusters
from lookalike.stores.kinds import all_ways, way_named, way_names
from lookalike.stores.kinds.base import LIMIT, K, Options, Way
from lookalike.stores.kinds.near import NEAR
from lookalike.stores.kinds.simhash import NearSimhashes
from lookalike.stores.kinds.vector import NearestVectors
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings

DEFAULT = "near"
RECORDS = "record"


class SimhashMatches(NamedTuple):
    """The matches of many queries: those of query i are at ``offsets[i]:offsets[i + 1]``, nearest first, then oldest first."""

    offsets: NDArray[np.int64]
    ids: NDArray[Any]  # int64 where all of them are integers, otherwise objects
    distances: NDArray[np.uint8]


class VectorMatches(NamedTuple):
    """The matches of many vectors: those of query i are at ``offsets[i]:offsets[i + 1]``, best first, then oldest first."""

    offsets: NDArray[np.int64]
    ids: NDArray[Any]  # int64 where all of them are integers, otherwise objects
    scores: NDArray[np.float64]  # cosines


def checked_options(
    k: int = K,
    threshold: float | None = None,
    limit: int | None = None,
    approximate: bool = False,
    min_share: float | None = None,
    *,
    nearest: bool = False,
) -> Options:
    most = NO_LIMIT if limit is None else check_limit(limit)
    if threshold is not None:
        check_share("threshold", threshold, "choose 0 to 1")
    if min_share is not None:
        check_share("min_share", min_share, "choose 0 to 1")
    return Options(k, threshold, most, check_bool("approximate", approximate), min_share, nearest)


USUAL = checked_options(K, None, LIMIT, nearest=True)  # of nearly every search


def search(
    store: Store,
    query: Any,
    given: Mapping[str, Any],
    by: object,
    options: Options,
    compare: bool,
    text: bool,
    where: object = None,
    tried: bool = False,
) -> Matches:
    """By a query, or by a fingerprint that is ``given``, with the name of its parameter of ``Index.search``.

    ``tried``: at once, and it is not to be had so.
    """
    if len(given) + (query is not None) != 1:
        raise InputError("search for one thing: a text, a record, a Path, simhash=, minhash=, digest= or vector=")
    check_bool("compare", compare)
    if not (by is None or isinstance(by, str)):
        by = check_str("by", by, f"one of {', '.join(way_names())}")
    usual = RECORDS if not isinstance(query, str) and isinstance(query, (Mapping, RecordPrint)) else DEFAULT
    way = _way_taking(*next(iter(given.items())), by) if given else way_named(by or usual)
    if options.approximate and not way.approximates:
        raise InputError("approximate=True is for searches by meaning: every other one is exact and quick; leave it out")
    if options.min_share is not None and way.name != "passages":
        raise InputError(f"min_share is how much of a document a query holds: search by='passages', not by={way.name!r}")
    if compare:
        _require_texts(store, query, way)
    settings = store.settings
    places: tuple[Place, ...] = ()
    if isinstance(query, str):
        if not (tried or where is not None or compare) and (at_once := way.at_once(store, query, options, with_text=text)) is not None:
            return at_once
    elif isinstance(query, (Path, bytes)) and way.takes == "text":
        query, places = _read(query)
    elif isinstance(query, FileText):
        query, places = query.text, query.places
    wanted = way.given(next(iter(given.values())), settings) if given else way.query(_thing(query, way, settings), settings)
    with store.reading() as reader:
        found = find_counting(way, reader, settings, wanted, options, fitting(reader, settings, where)).on(way.scale)
        carry(reader, found, text=text)
        for match in found if places else ():
            match.query_places = places
        found.notes += getattr(reader, "notes", ())  # that a shard was left out
        if compare:
            _compare(reader, _query_text(query), found)
    return found


def _read(query: Path | bytes) -> tuple[str, tuple[Place, ...]]:
    """The text of a file, as a store would keep it, and its pages."""
    try:
        found = readable(query) if isinstance(query, Path) else read_contents(query, "the query", "text")
        return found.text(), found.places
    except NotText as error:
        raise error.instead("search for its bytes with by='fuzzy'") from error


def search_texts(store: Store, texts: Sequence[str], options: Options, workers: int, where: object) -> list[Matches]:
    settings = store.settings
    with store.reading() as reader:
        find = partial(find_counting, counts=fitting(reader, settings, where))
        found = list(NEAR.find_each(reader, settings, texts, options, workers, find))
        carry(reader, [match for each in found for match in each])
    return [each.on(NEAR.scale) for each in found]


def carry(reader: Reader, found: Sequence[Match], *, text: bool = False) -> None:
    """Give matches what is kept beside their documents."""
    if not text:
        found = [match for match in found if not match.carries]
    if not found:
        return
    rows_of(reader, found)
    records = reader.records([match.row for match in found if match.row is not None], ("meta", "text") if text else ("meta",))
    for match in found:
        if match.row is not None:
            match.carry(records[match.row].meta)
            match.text = records[match.row].text if text else None


def _way_taking(parameter: str, value: object, by: str | None) -> Way:
    """The way of searching by a fingerprint that was made elsewhere."""
    ways = [way for way in all_ways() if way.parameter == parameter]
    way = next((way for way in ways if way.is_of(value)), ways[0])
    if by is not None and by not in (way.name, *way.also):
        raise InputError(f"by={by!r} does not fit {parameter}=: leave it out, or say by={way.name!r}")
    return way


def _thing(query: object, way: Way, settings: Settings) -> Any:
    """What a way takes, from what was given."""
    if way.takes == "thing" or (way.takes == "text" and isinstance(query, str)):
        return query
    if way.takes == "record":
        return _record_of(query, way, settings)
    if way.takes == "page":
        found = contents(query, "page").thing if isinstance(query, Path) else query
        if not isinstance(found, Page):
            raise InputError(f"by={way.name!r} compares web pages: give la.page(…) or a Path, not a {type(query).__name__}")
        return found
    if not isinstance(query, (str, bytes, Path, Page)):
        raise InputError(f"cannot search for a {type(query).__name__}: give a text, a page, or a Path to a file")
    if way.takes == "bytes":
        if isinstance(query, Page):
            raise InputError(f"by={way.name!r} compares the bytes of files: give the Path of the page")
        return query
    return _query_text(query)


def written_record(file: Path) -> Mapping[str, Any]:
    """The one JSON object that is in a file."""
    return parse_record(readable(file, "text").text(), str(file))


def profile_print(file: Path, weights: Mapping[str, float], measures: Mapping[str, str]) -> RecordPrint:
    """The record that a scan would store of a file, by the rules of a collection. What nobody knows of the file does not count."""
    from lookalike.profiles.records import UNKNOWN, scanned_record  # few searches need it

    return record(scanned_record(file), weights={**weights, UNKNOWN: 0.0}, measures=measures)


def _record_of(query: object, way: Way, settings: Settings) -> Any:
    if isinstance(query, Path):
        from lookalike.profiles.records import is_json_object  # few searches need it

        return written_record(query) if is_json_object(query) else profile_print(query, dict(settings.weights), dict(settings.measures))
    if not isinstance(query, (Mapping, RecordPrint)):
        raise InputError(f"by={way.name!r} compares records: give a mapping, or the Path of a file, not a {type(query).__name__}")
    return query


def _query_text(query: object) -> str:
    if isinstance(query, Page):
        return page_text(query)
    return _read(query)[0] if isinstance(query, (bytes, Path)) else str(query)


def _require_texts(store: Store, query: object, way: Way) -> None:
    if query is None or way.takes != "text":
        *names, last = map(repr, way_names(of_texts=True))
        raise InputError(f"compare=True compares texts: give a text, and by={', '.join(names)} or {last}")
    if not store.settings.keep_text:
        raise InputError("compare=True compares texts: this collection keeps none; make another one with keep_text=True")


def _compare(reader: Reader, text: str, found: Matches) -> None:
    """The score of ``la.compare``, where a document has a text."""
    rows = reader.rows_of([match.id for match in found])
    records = reader.records(list(rows.values()), ("text",))
    for match in found:
        stored = records[rows[match.id]].text
        match.compared = None if stored is None else text_score(text, stored).value


def near_simhashes(store: Store, words: NDArray[np.uint64], k: int, limit: int, workers: int, where: object = None) -> SimhashMatches:
    def ask(asked: Reader, most: int) -> tuple[NDArray[Any], ...]:
        found = asked.find(NearSimhashes(words, k, most, workers))
        return found.offsets, found.ids, found.distances

    with store.reading() as reader:
        offsets, rows, distances = arrays_counting(reader, store.settings, ask, limit, where)
        return SimhashMatches(offsets, _ids_of(reader, rows), distances)


def nearest_vectors(store: Store, question: NearestVectors, where: object = None) -> VectorMatches:
    def ask(asked: Reader, most: int) -> tuple[NDArray[Any], ...]:
        found = asked.find(replace(question, limit=most))
        return found.offsets, found.rows, found.cosines

    with store.reading() as reader:
        offsets, rows, cosines = arrays_counting(reader, store.settings, ask, question.limit, where)
        return VectorMatches(offsets, _ids_of(reader, rows), cosines)


def _ids_of(reader: Reader, found: NDArray[np.int64]) -> NDArray[Any]:
    """The ids of rows, each looked up once."""
    rows, places = np.unique(found, return_inverse=True)
    records = reader.records(rows.tolist(), ())
    ids = [records[row].id for row in rows.tolist()]
    known = np.array(ids, dtype=np.int64 if all(isinstance(id_, int) for id_ in ids) else object)
    return known[places]


def clusters(store: Store, by: object, options: Options, progress: OnProgress | None, where: object = None) -> Clusters:
    names = way_names(of_clusters=True)
    if not isinstance(by, str) or by not in names:
        raise InputError(f"by={shown_value(by)}: clusters are made by {', '.join(names)}")
    way = way_named(by)
    with store.reading() as reader:
        found = way.clusters(reader if where is None else Fitting(reader, store.settings, where), store.settings, options, progress)
    return Clusters((replace(cluster, scale=way.scale) for cluster in found), found.notes)
