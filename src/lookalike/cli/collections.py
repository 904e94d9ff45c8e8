"""``lookalike collections``"""

from __future__ import annotations

from typing import Any

import click

import lookalike
from lookalike.cli.options import answer_options, print_json, print_table, say
from lookalike.cli.progress import Counter
from lookalike.cli.stores import store_argument, trusted
from lookalike.figures import counted

NAMES = {"list": (), "copy": ("NAME", "NEW"), "rename": ("NAME", "NEW"), "alias": ("ALIAS", "NAME"), "drop": ("NAME",)}


@click.command("collections")
@store_argument
@click.argument("action", type=click.Choice(list(NAMES)), default="list")
@click.argument("names", metavar="[NAME…]", nargs=-1)
@answer_options
def command(store: str, action: str, names: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """The collections of STORE: list them, copy or rename one, lead an alias to one, or drop one.

    list: all names. copy NAME NEW: a second collection with the same documents. rename NAME NEW. alias ALIAS NAME: a further
    name for a collection; an alias that is there leads to it from now on, in one step. drop NAME: a collection with all its documents, or
    an alias.
    """
    wanted = NAMES[action]
    if len(names) != len(wanted):
        raise click.UsageError(f"{action} takes {' '.join(wanted) if wanted else 'no names'}: lookalike collections STORE {action}")
    found = lookalike.collections(store, trust=trusted())
    facts: dict[str, Any] = {}
    if action == "copy":
        with Counter(quiet, "documents") as progress:
            facts = {"collection": names[1], "documents": found.copy(*names, progress=progress.at)}
        said = f"{counted(facts['documents'], 'document')} copied"
    elif action == "rename":
        found.rename(*names)
        facts, said = {"collection": names[1]}, f"{names[0]} is called {names[1]} now"
    elif action == "alias":
        found.alias(*names)
        facts, said = {"alias": names[0], "collection": names[1]}, f"{names[0]} leads to {names[1]}"
    elif action == "drop":
        is_alias = names[0] in found.aliases
        facts = {"name": names[0], "documents": found.drop(names[0])}
        said = f"the alias {names[0]} is gone" if is_alias else f"{names[0]} is gone, with {counted(facts['documents'], 'document')}"
    if facts:
        print_json(facts) if as_json else say(said)
        return
    aliases = found.aliases
    if as_json:
        print_json({"collections": list(found), "aliases": aliases})
    else:
        print_table(("collection", "aliases"), [(each, ", ".join(name for name in aliases if aliases[name] == each)) for each in found])
