"""What a role can put into a schema that everybody may create in: functions, aggregates, operators, types and tables that fit whatever a
statement names without its schema, better than the server's own. Each of them raises an exception, so no statement can use one unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import psycopg

SOURCES = Path(__file__).parents[1] / "src" / "lookalike" / "stores" / "postgres"
TYPES = (
    *("smallint", "integer", "bigint", "double precision", "text", "name", "oid", "bit", "bit varying", "bytea"),
    *("bigint[]", "integer[]", "text[]", "bytea[]"),
)
OPERATORS = ("=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "&", "|", "#", "<<", ">>", "&&", "@>", "||")
DOMAINS = ("text", "name", "oid", "bytea", "regclass", "regnamespace", "xid8", "int4", "int8", "float8")
ATTACKED = "attacked"  # what every exception says
BODY = f"LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{ATTACKED} through %', 'PLACE'; END $$"


def sources() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted([*SOURCES.glob("*.py"), *SOURCES.glob("sql/*.sql")]))


def attack(connection: psycopg.Connection[Any]) -> int:
    """Fill the schema public, as the role of the connection. Returns how many traps there are."""
    connection.execute("SET search_path = pg_catalog")
    words = set(re.findall(r"\w+", sources()))
    statements = list(traps(connection, words))
    for first in range(0, len(statements), 500):
        connection.execute(";\n".join(statements[first : first + 500]))
    return len(statements)


def traps(connection: psycopg.Connection[Any], words: set[str]) -> Iterator[str]:
    yield f"CREATE FUNCTION public.trap(place text) RETURNS boolean {BODY.replace(repr('PLACE'), 'place')}"
    yield from _operators()
    yield from _functions(connection, words)
    yield from _aggregates(connection, words)
    for name in _there(
        connection, "SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v')", words
    ):
        yield f"CREATE VIEW public.{name} AS SELECT 1 AS oid WHERE public.trap('the view {name}')"
        yield f"GRANT SELECT ON public.{name} TO PUBLIC"
    for name in DOMAINS:  # the last ones: from here on these names are theirs
        yield f"CREATE DOMAIN public.{name} AS pg_catalog.{name} CHECK (public.trap('the type {name}'))"


def _there(connection: psycopg.Connection[Any], query: str, words: set[str]) -> list[str]:
    return sorted({name for (name,) in connection.execute(query)} & words)


def _operators() -> Iterator[str]:
    for left, right in product(TYPES, TYPES):
        yield f"CREATE FUNCTION public.decide(a {left}, b {right}) RETURNS boolean {_body('an operator')}"
        yield f"CREATE FUNCTION public.compute(a {left}, b {right}) RETURNS {left} {_body('an operator')}"
        for name in OPERATORS:
            function = "decide" if (set(name) & set("=<>@") and name not in ("<<", ">>")) or name == "&&" else "compute"
            yield f"CREATE OPERATOR public.{name} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = public.{function})"


def _functions(connection: psycopg.Connection[Any], words: set[str]) -> Iterator[str]:
    """All signatures of up to two of the types, and those that the server has."""
    query = "SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f'"
    for name in _there(connection, query, words - {"text", "name", "oid", "int4", "int8", "float8", "bit", "numeric"}):
        signatures = {(), *product(TYPES), *product(TYPES, TYPES)}
        own = "SELECT proargtypes::regtype[]::text[], prorettype::regtype::text FROM pg_proc WHERE proname = %s AND pronamespace = 'pg_catalog'::regnamespace"
        returned = "bigint"
        for types, result in connection.execute(own, (name,)):
            returned = result if result in TYPES or result == "boolean" else "bigint"
            if not any(part.startswith(('"', "any")) or part in ("internal", "cstring") for part in types):
                signatures.add(tuple("text" if part == "regclass" else part for part in types))
                signatures.add(tuple(types))
        for types in sorted(signatures):
            yield f"CREATE FUNCTION public.{name}({', '.join(types)}) RETURNS {returned} {_body(f'the function {name}')}"


def _aggregates(connection: psycopg.Connection[Any], words: set[str]) -> Iterator[str]:
    query = "SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'a'"
    yield f"CREATE FUNCTION public.step(state bigint) RETURNS bigint {_body('an aggregate')}"
    for type_ in TYPES:
        yield f"CREATE FUNCTION public.step(state bigint, value {type_}) RETURNS bigint {_body('an aggregate')}"
    for name in _there(connection, query, words):
        for arguments in ("*", *TYPES):
            yield f"CREATE AGGREGATE public.{name}({arguments}) (SFUNC = public.step, STYPE = bigint, INITCOND = '0')"


def _body(place: str) -> str:
    return BODY.replace("PLACE", place)
