"""The layouts that are usual with smlar: slices of a fingerprint as text[] under GIN, and of what shares enough of them, what is near.

With the extension its operator and overlap are measured: k flips leave all slices but k alone. Without it, PostgreSQL's own ``&&``
finds what shares one. Both are exact for a k smaller than the number of slices, and not offered beyond.
"""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

import psycopg
from numpy.typing import NDArray
from postgres_queries import KS, MORE, Connection, Query, Watch, one, timed

LAYOUTS = {"4 slices": (16,) * 4, "6 slices, mixed": (8, 16, 8, 8, 16, 8), "8 slices": (8,) * 8}


def slices_of(value: int, widths: tuple[int, ...]) -> list[str]:
    bits = f"{value:064b}"
    return [f"{number}_{bits[end - width : end]}" for number, (width, end) in enumerate(zip(widths, accumulate(widths), strict=True), 1)]


def _slices_in_sql(widths: tuple[int, ...]) -> str:
    ends = list(accumulate(widths))
    parts = (f"'{n}_' || substr(b, {end - width + 1}, {width})" for n, (width, end) in enumerate(zip(widths, ends, strict=True), 1))
    return f"ARRAY[{', '.join(parts)}]"


def sliced(url: str, name: str, values: NDArray[Any], asked: list[Query], hot: list[Query]) -> list[dict[str, Any]]:
    widths, table = LAYOUTS[name], f"slices_{len(LAYOUTS[name])}"
    with psycopg.connect(url, autocommit=True) as connection:
        extension = connection.execute("SELECT FROM pg_available_extensions WHERE name = 'smlar'").fetchone() is not None
        if connection.execute("SELECT FROM pg_class WHERE relname = %s", (table,)).fetchone() is None:
            _build(connection, table, widths, values, extension)
        built: dict[str, Any] = json.loads(one(connection, f"SELECT obj_description('{table}'::regclass)"))
        connection.execute("SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off; SET jit = off")
        common = {"layout": f"{name}, {'smlar' if extension else 'GIN &&'}"} | built
        rows = []
        for k in (k for k in KS if k < len(widths)):
            if extension:
                connection.execute(f"SET smlar.type = overlap; SET smlar.threshold = {len(widths) - k}")
            operator = "%%" if extension else "&&"
            near = f"bit_count((simhash # %(q)s)::bit(64)) <= {k}"
            search = f"SELECT id, simhash FROM {table} WHERE slices {operator} %(slices)s::text[] AND {near}"
            for are_hot, those in ((False, asked), (True, hot)):
                measured = timed(connection, search, those, k, lambda query: {"q": query.signed, "slices": slices_of(query.value, widths)})
                rows.append(common | {"hot": are_hot} | measured)
    return rows


def _build(connection: Connection, table: str, widths: tuple[int, ...], values: NDArray[Any], extension: bool) -> None:
    """The table, its index, and some rows more; how long that took goes into a comment of the table."""
    if extension:
        connection.execute("CREATE EXTENSION IF NOT EXISTS smlar")
    connection.execute("CREATE TEMP TABLE numbers (id bigint, simhash bigint)")
    with connection.cursor().copy("COPY numbers FROM STDIN") as copy:
        for start in range(0, len(values), 100_000):
            part = values[start : start + 100_000].view("i8").tolist()
            copy.write("".join(f"{id_}\t{value}\n" for id_, value in enumerate(part, start)))
    connection.execute(
        f"CREATE TABLE {table} AS SELECT id, simhash, {_slices_in_sql(widths)} AS slices"
        " FROM (SELECT id, simhash, simhash::bit(64)::text AS b FROM numbers) AS n"
    )
    connection.execute("DROP TABLE numbers")
    watch = Watch(connection)
    connection.execute(f"CREATE INDEX {table}_gin ON {table} USING gin (slices {'_text_sml_ops' if extension else ''})")
    seconds, worked = watch.seconds()
    built: dict[str, Any] = {"index_s": round(seconds, 1), "index_cpu_s": round(worked, 1)}
    built["table_mb"] = round(one(connection, f"SELECT pg_relation_size('{table}')") / 1e6)
    built["index_mb"] = round(one(connection, f"SELECT pg_relation_size('{table}_gin')") / 1e6)
    more = values[:MORE].tolist()
    # As it comes, with a list of pending entries that has to be worked off before searches are fast again; then without one.
    for fastupdate in ("on", "off"):
        connection.execute(f"ALTER INDEX {table}_gin SET (fastupdate = {fastupdate})")
        lines = "".join(f"-1\t{v - (v >> 63 << 64)}\t{{{','.join(slices_of(v ^ 5, widths))}}}\n" for v in more)
        watch = Watch(connection)
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            copy.write(lines)
        connection.execute(f"SELECT gin_clean_pending_list('{table}_gin')")
        seconds, worked = watch.seconds()
        suffix = "" if fastupdate == "on" else "_fastupdate_off"
        built |= {f"indexed_rows_s{suffix}": round(len(more) / seconds), f"indexed_rows_cpu_s{suffix}": round(len(more) / worked)}
        connection.execute(f"DELETE FROM {table} WHERE id = -1")
    connection.execute(f"VACUUM (ANALYZE) {table}")
    connection.execute(f"COMMENT ON TABLE {table} IS '{json.dumps(built)}'")
