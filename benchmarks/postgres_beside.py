"""Our search and smlar's in turns, so that both meet the same state of the machine: by the client's clock, and by the server's own."""

from __future__ import annotations

import statistics
import time
from typing import Any

import psycopg
from postgres_queries import Connection, Query
from postgres_slices import LAYOUTS, slices_of

ROUNDS = 7  # of all queries by each; the first one is for warming up
KS = (1, 3)
LAYOUT = "4 slices"
OURS = "SELECT id_number FROM lookalike.search_simhash('default', {q}, {k})"
SMLAR = "SELECT id FROM slices_4 WHERE slices {percent} {slices} AND bit_count((simhash # {q})::bit(64)) <= {k}"
# The searches one after the other, and the milliseconds of each.
IN_THE_SERVER = """
CREATE OR REPLACE FUNCTION pg_temp.clocked(queries bigint[], slices_of text[], k integer) RETURNS double precision[] LANGUAGE plpgsql AS $$
DECLARE
  q bigint;
  wanted text[];
  began timestamptz;
  took double precision[];
BEGIN
  FOR place IN 1..cardinality(queries) LOOP
    q := queries[place];
    wanted := string_to_array(slices_of[place], ' ');
    began := clock_timestamp();
    PERFORM found.* FROM ({search}) AS found;
    took := took || extract(epoch FROM clock_timestamp() - began)::double precision * 1000;
  END LOOP;
  RETURN took;
END $$
"""


def beside(url: str, asked: list[Query]) -> list[dict[str, Any]]:
    """A row for each k: the median of all rounds of both, and how many times longer smlar takes."""
    found = []
    with psycopg.connect(url, autocommit=True) as ours, psycopg.connect(url, autocommit=True) as smlar:
        smlar.execute("SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off; SET jit = off; SET smlar.type = overlap")
        for k in KS:
            smlar.execute(f"SET smlar.threshold = {len(LAYOUTS[LAYOUT]) - k}")
            took: dict[tuple[str, str], list[float]] = {}
            for number in range(ROUNDS):
                for name, connection, search in (("ours", ours, OURS), ("smlar", smlar, SMLAR)):
                    for place, times in (
                        ("client", _from_client(connection, search, asked, k)),
                        ("server", _inside(connection, search, asked, k)),
                    ):
                        took.setdefault((name, place), []).extend(times if number else [])
            row: dict[str, Any] = {"k": k, "rounds": ROUNDS - 1}
            for place in ("client", "server"):
                medians = {name: statistics.median(took[name, place]) for name in ("ours", "smlar")}
                row[place] = {name: round(value, 3) for name, value in medians.items()} | {
                    "times": round(medians["smlar"] / medians["ours"], 2)
                }
            found.append(row)
    return found


def _slices(query: Query) -> list[str]:
    return slices_of(query.value, LAYOUTS[LAYOUT])


def _from_client(connection: Connection, search: str, asked: list[Query], k: int) -> list[float]:
    statement = search.format(q="%(q)s", k="%(k)s", slices="%(slices)s::text[]", percent="%%")
    times = []
    with connection.cursor(binary=True) as cursor:
        for query in asked:
            given = {"q": query.signed, "k": k, "slices": _slices(query)}
            began = time.perf_counter()
            cursor.execute(statement, given, prepare=True).fetchall()
            times.append((time.perf_counter() - began) * 1000)
    return times


def _inside(connection: Connection, search: str, asked: list[Query], k: int) -> list[float]:
    connection.execute(IN_THE_SERVER.replace("{search}", search.format(q="q", k="k", slices="wanted", percent="%")))
    given = ([query.signed for query in asked], [" ".join(_slices(query)) for query in asked], k)
    answer = connection.execute("SELECT pg_temp.clocked(%s::bigint[], %s::text[], %s)", given).fetchone()
    assert answer is not None
    times: list[float] = answer[0]
    return times
