"""The package as a whole: exports, what an import pulls in, recipes, the registry, errors."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lookalike as la
from lookalike.deduping.options import DedupeOptions, PlanOptions
from lookalike.drafts.report import FeedbackOptions
from lookalike.errors import LookalikeError
from lookalike.index.opening import CollectionOptions
from lookalike.registry import Registry

SOURCE = Path(la.__file__).parent
EARLIER = [name for names in la._ROOMS.values() for name in names.split()]  # names that stood at the front door before
OPTIONAL = ("numpy", "rapidfuzz", "rjieba", "jieba", "rich", "click", "pyarrow", "polars", "pandas", "thulac", "torch", "sklearn")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def typed_names(package: ModuleType) -> set[tuple[str | None, str]]:
    """What the stub of a package says: a home and a name each."""
    stub = ast.parse((Path(str(package.__file__)).with_suffix(".pyi")).read_text(encoding="utf-8"))
    assert all(alias.asname == alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names)
    return {(node.module, alias.name) for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_every_export_is_there_and_typed() -> None:
    assert la.__all__ == sorted(la.__all__) == dir(la)
    assert all(getattr(la, name) is not None for name in la.__all__)
    assert 55 <= len(la.__all__) <= 65, "the front door; the rest is in rooms"
    typed = typed_names(la)
    assert {name for _, name in typed} == {*la.__all__, *EARLIER}
    for home, name in typed:
        found = getattr(la, name)
        assert found is (import_module(f"lookalike.{name}") if home == "lookalike" else getattr(import_module(str(home)), name))


@pytest.mark.parametrize("room", sorted({*la._ROOMS} - {"measures", "errors", "spark"}))
def test_rooms_have_their_names_and_types(room: str) -> None:
    package = getattr(la, room)
    assert package.__all__ == sorted(package.__all__) == sorted(la._ROOMS[room].split())
    typed = typed_names(package)
    assert {name for _, name in typed} == set(package.__all__)
    for home, name in typed:
        assert getattr(package, name) is getattr(import_module(str(home)), name) is getattr(la, name)
    with pytest.raises(AttributeError, match=f"lookalike.{room}.*nonsense"):
        package.nonsense  # noqa: B018


def test_the_room_of_spark_has_its_names_and_types() -> None:
    """Its names are those of functions at the front door, for frames; and asking for them needs no Spark."""
    assert la.spark.__all__ == ["Engine", "SparkReport", "fingerprint", "hamming_join", "search"]
    for home, name in typed_names(la.spark):
        assert getattr(la.spark, name) is getattr(import_module(str(home)), name)
    assert run("import lookalike as la; la.spark.Engine()\nimport sys; print('pyspark' in sys.modules)") == "False"


def test_no_two_classes_have_one_name() -> None:
    """One word, one meaning. The shapes of the service say in JSON what the classes of these names are."""
    homes: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        if path != SOURCE / "service" / "shapes.py":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    homes.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    assert len(homes) > 500
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_unknown_attributes() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        la.nonsense  # noqa: B018
    assert "simhash" in dir(la)


@pytest.mark.parametrize("code", ["import lookalike", "import lookalike as la; la.simhash('some text'); la.minhash('x'); la.winnow('y')"])
def test_imports_pull_in_no_dependency(code: str) -> None:
    found = run(f"{code}\nimport sys; print([m for m in {OPTIONAL} if m in sys.modules])")
    assert found == "[]"


def test_comparing_two_texts_needs_neither_numpy_nor_rich() -> None:
    found = run(
        "import lookalike as la; la.compare('a b', 'a c')\nimport sys; print([m for m in ('numpy', 'rich', 'rjieba') if m in sys.modules])"
    )
    assert found == "[]"


def test_no_module_prints_or_configures_logging() -> None:
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        assert "print" not in calls, path
        assert "eval" not in calls, path


def test_recipe_ids_cover_every_field() -> None:
    base = la.Recipe(ngram=1)
    others = [
        base.replace(tokenizer="words"), base.replace(ngram=2), base.replace(normalize="none"), base.replace(weights="one"), base.replace(keywords=5),
        base.replace(stop_words="en"), base.replace(weights="tfidf", idf="jieba"), base.replace(hash="md5"), base.replace(seed=1),
    ]  # fmt: skip
    ids = {recipe.id for recipe in [base, *others]}
    assert len(ids) == len(others) + 1
    for recipe in others:
        assert la.Recipe.from_dict(recipe.to_dict()) == recipe


def test_recipe_ids_never_change() -> None:
    """Recipe version 1 never changes its output, so these ids never change either."""
    assert la.recipes.get("default").id == "default.82f62875f512"
    assert la.recipes.get("chars").id == "chars.0446dfb26339"
    assert la.recipes.get("simhash-py").id == "simhash-py.a8d3d386fe73"
    assert la.recipes.get("datasketch").id == "datasketch.85fa4bbcd5c1"
    assert la.recipes.get("winnow-sha1").id == "winnow-sha1.cd848b43c73c"
    assert la.Recipe() == la.recipes.get("default")
    assert la.Recipe(ngram=7).id.startswith("custom.")


def test_recipe_ids_hold_no_paths(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text("相似\n文本\n", encoding="utf-8")
    ids = {la.Recipe(tokenizer=f"fmm:{tmp_path / name}").id for name in ("one", "two")}
    assert len(ids) == 1
    (tmp_path / "two").write_text("相似\n", encoding="utf-8")
    assert la.Recipe(tokenizer=f"fmm:{tmp_path / 'two'}").id not in ids


@pytest.mark.parametrize(
    "fields",
    [
        {"ngram": 0}, {"ngram": 65}, {"ngram": True}, {"ngram": "5"}, {"normalize": "nfc"}, {"weights": "tf"}, {"hash": "crc"}, {"seed": -1},
        {"seed": 2**63}, {"version": 2}, {"keywords": 0, "ngram": 1}, {"keywords": 5}, {"weights": "tfidf", "ngram": 1}, {"idf": "jieba"},
        {"tokenizer": None}, {"stop_words": 3, "ngram": 1},
    ],
    ids=str,
)  # fmt: skip
def test_recipes_that_make_no_sense(fields: dict[str, object]) -> None:
    with pytest.raises(la.InputError, match="recipe"):
        la.Recipe(**fields)  # type: ignore[arg-type]


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(la.UnknownName, match="did you mean 'default'"):
        la.simhash("x", recipe="defualt")
    with pytest.raises(la.UnknownName, match="unknown segmenter 'jeba'; did you mean 'jieba'"):
        la.simhash("x", recipe=la.Recipe(tokenizer="jeba"))
    with pytest.raises(la.InputError, match="recipe=3"):
        la.simhash("x", recipe=3)  # type: ignore[arg-type]
    with pytest.raises(la.InputError, match="unknown fields speed: choose from"):
        la.Recipe.from_dict({"speed": 1})


def test_a_registered_tokenizer_decides_the_recipe_id() -> None:
    la.segmenters.register("by-dash", lambda text: text.split("-"), version="1")
    first = la.Recipe(tokenizer="by-dash", ngram=1)
    before = first.id
    assert la.simhash("a-b", recipe=first) == la.simhash("b-a", recipe=first)
    la.segmenters.register("by-dash", lambda text: text.split("-"), version="2")
    assert first.id != before


def test_functions_by_name() -> None:
    recipe = la.Recipe(tokenizer="re:findall_missing", ngram=1)
    with pytest.raises(la.UnknownName, match="findall_missing"):
        la.simhash("a b", recipe=recipe)
    assert la.simhash("a b", recipe=la.Recipe(tokenizer="shlex:split", ngram=1)) == la.simhash(
        "b a", recipe=la.Recipe(tokenizer="shlex:split", ngram=1)
    )


def test_registries_load_lazily_and_blame_the_extra() -> None:
    things: Registry[object] = Registry("thing")
    things.register("later", "no_such_module:thing", extra="things")
    assert "later" in things
    with pytest.raises(la.MissingExtra, match=r"pip install 'lookalike\[things\]'"):
        things.get("later")
    things.register("wrong", "json:no_such_attribute")
    with pytest.raises(la.UnknownName, match="no_such_attribute"):
        things.get("wrong")
    with pytest.raises(la.InputError, match="white space"):
        things.register(" x", object())


def test_every_error_has_codes_and_one_base() -> None:
    assert la._ROOMS["errors"].split() == sorted({*vars(la.errors)} & {*EARLIER})
    for name in {*la.__all__, *EARLIER}:
        thing = getattr(la, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, LookalikeError)
            assert thing.exit_code >= 2
            assert 400 <= thing.http_status < 600
    assert str(la.NotFound("no such id 'x'")) == "no such id 'x'"


def test_selftest_and_info() -> None:
    assert all(check["passed"] for check in la.selftest())
    facts = la.info()
    assert set(facts["recipes"]) >= {"default", "simhash-py", "datasketch", "winnow-sha1"}
    assert facts["version"] == la.__version__
    assert "pip install" in facts["extras"]["hanlp"] or "hanlp" in facts["extras"]["hanlp"]


def test_the_extra_all_is_every_extra_that_does_without_torch_and_java() -> None:
    extras = tomllib.loads((SOURCE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    assert set(everything.removeprefix("lookalike[").removesuffix("]").split(",")) == set(extras) - {
        "ltp",
        "hanlp",
        "language-model",
        "spark",
    }
    assert set(extras) == set(la.info()["extras"])


def test_it_runs_as_a_module() -> None:
    shown = subprocess.run([sys.executable, "-m", "lookalike", "--version"], check=True, capture_output=True, text=True).stdout
    assert shown == f"lookalike {la.__version__}\n"


def test_golden_vectors_are_those_of_the_reference(tmp_path: Path) -> None:
    """golden.json is what scripts/generate_golden.py writes from the reference today."""
    script = Path(__file__).parent.parent / "scripts" / "generate_golden.py"
    subprocess.run([sys.executable, str(script), str(tmp_path / "golden.json")], check=True, capture_output=True)
    assert (tmp_path / "golden.json").read_bytes() == (SOURCE / "golden.json").read_bytes()


def test_installed_plug_ins_are_found_by_their_entry_points(tmp_path: Path) -> None:
    """A distribution that names a segmenter, a recipe and a measure, as pip would have installed it."""
    info = tmp_path / "lookalike_dashes-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lookalike-dashes\nVersion: 2.5\n", encoding="utf-8")
    points = "[lookalike.segmenter]\ndashes = lookalike_dashes:cut\n[lookalike.recipe]\ndashed = lookalike_dashes:RECIPE\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    (tmp_path / "lookalike_dashes.py").write_text(
        "import lookalike\ndef cut(text):\n    return text.split('-')\nRECIPE = lookalike.Recipe(tokenizer='dashes', ngram=1)\n",
        encoding="utf-8",
    )
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport lookalike as la\n"
        "print(la.simhash('a-b', recipe='dashed') == la.simhash('b-a', recipe='dashed'), 'dashes' in la.segmenters,"
        " la.segmenters.version('dashes'), la.recipes.get('dashed').id.startswith('custom.'))"
    )
    assert run(code) == "True True 2.5 True"


def test_the_id_of_a_recipe_does_not_depend_on_what_was_imported():
    program = "import lookalike as la\nfirst = la.Recipe().id\nla.info()\nprint(first == la.Recipe().id, first == la.simhash('x').recipe.split('/')[-1])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_a_script_that_ends_says_nothing_of_what_a_cache_still_holds():
    program = "import lookalike as la\ntry: la.dedupe(['text one', 'text two'])\nexcept la.LookalikeError: pass\nla.simhash('abc')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""


ROOT = Path(__file__).parent.parent


def test_the_design_page_has_the_layers_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    checked = [layer.split(" | ") for layer in contract["layers"]]
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    block = page.split("checked by import-linter:\n\n```\n")[1].split("```")[0]
    assert [layer.strip().split(", ") for layer in " ".join(block.split()).split("→")] == checked


def test_the_map_names_every_folder_of_the_package_and_the_tests_of_each() -> None:
    folders = {path.parent.name for path in (ROOT / "src" / "lookalike").glob("*/__init__.py")}
    shown = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `src/lookalike/(\w+)/`", shown, re.MULTILINE)) == folders
    tested = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("test_*.py"))}
    elsewhere = {"markup", "index", "leaders", "testing"}  # the last one is tests
    assert folders - elsewhere <= tested
    assert tested <= folders | {"native"}
    assert all(f"`{name}`" in shown for name in elsewhere)


@pytest.mark.parametrize(
    ("function", "options"),
    [(la.dedupe, DedupeOptions), (la.plan, PlanOptions), (la.feedback, FeedbackOptions), (la.open, CollectionOptions)],
)
def test_options_are_shown_typed_and_checked(function: Any, options: Any) -> None:
    """What ``help`` shows comes from the groups, what type checkers read from the TypedDict, and both say the same."""
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    shown = {name: each.annotation for name, each in inspect.signature(function).parameters.items() if name not in own}
    assert shown == {name: typed.__forward_arg__ for name, typed in options.__annotations__.items()}
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        function("nothing", colour=3)
