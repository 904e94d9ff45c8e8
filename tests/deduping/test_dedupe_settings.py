"""The parameters of dedupe and plan: said once, in groups, each checked where it stands."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

import lookalike as la
from lookalike.cli.dedupe import command as dedupe_command
from lookalike.cli.plan import command as plan_command
from lookalike.deduping.settings import Against, Conduct, Destinations, Input, Resources


def test_plan_takes_what_dedupe_takes() -> None:
    dedupe, plan = (inspect.signature(function).parameters for function in (la.dedupe, la.plan))
    for name in plan.keys() - {"corpus", "sample", "engine", "documents"}:  # a plan takes the name of an engine, and how much it shall do
        assert (plan[name].default, plan[name].annotation) == (dedupe[name].default, dedupe[name].annotation)


def test_options_of_both_verbs_are_described_once() -> None:
    dedupe, plan = ({each.name: each for each in command.params} for command in (dedupe_command, plan_command))
    for name in plan.keys() - {"sample", "documents"}:
        assert plan[name].to_info_dict() == dedupe[name].to_info_dict()


def test_every_parameter_has_its_place_in_a_group() -> None:
    names = {each.name for group in (Input, Destinations, Resources, Against, Conduct) for each in fields(group)}
    decide = {"method", "threshold", "distance", "keep", "level", "recipe", "model", "columns"}
    decide |= {"unit", "min_length", "within", "contains", "contains_by", "ngram"}
    renamed = {"store": "against", "column": "against_column", "listed": "references"}
    assert {renamed.get(name, name) for name in names} | decide | {"engine"} == inspect.signature(la.dedupe).parameters.keys()


@pytest.mark.parametrize(
    ("group", "wrong", "message"),
    [
        (Input, {"text_column": ""}, "text_column"),
        (Input, {"text_column": "a", "id_column": "a"}, "both 'a'"),
        (Input, {"encoding": 5}, "encoding"),
        (Input, {"extract": "most"}, "extract"),
        (Destinations, {"removed": 5}, "removed"),
        (Destinations, {"out": ["a"]}, "out"),
        (Destinations, {"annotate": 1}, "annotate"),
        (Resources, {"workers": 0}, "workers"),
        (Resources, {"memory": "much"}, "memory"),
        (Conduct, {"resume": "yes"}, "resume"),
        (Against, {"add": True}, "against="),
        (Conduct, {"on_error": "ignore"}, "on_error"),
        (Conduct, {"max_removed": -1}, "max_removed"),
        (Conduct, {"progress": 5}, "progress"),
    ],
)
def test_a_group_refuses_what_is_wrong(group: type[Any], wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(la.InputError, match=message):
        group(**({"corpus": []} if group is Input else {}), **wrong)
