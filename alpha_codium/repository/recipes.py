"""Recipes: what gencode knows about each repository, such as where its code and its tests are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from alpha_codium.config.layers import read, toml
from alpha_codium.errors import UserError, nearest
from alpha_codium.paths import home

# How tests are run -> files in `inside/`, which are executed with the same names.
RUNNERS = {
    "django": ("unittest_suite.py", "load_django.py"),
    "pytest": ("pytest_suite.py",),
    "unittest": ("unittest_suite.py",),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to get a repository and load its tests.

    `distribution` and `version` are those of its source package on PyPI. `sources` are the folders with the code of
    tasks, `path` those that are importable, and `requirements` what pip installs beside it. `runner` is how its tests
    are run, see `RUNNERS`. `labels` are the labels of which tasks are made by default; each is loaded in a process of
    its own. `coverage` is a pattern of further modules, packages or files, in the last folder of `path`, whose tests
    may call the code of tasks, too. `url` is its git repository, and `commit` that of rows that don't say their
    version, as those of the existing benchmark.
    """

    name: str
    distribution: str
    version: str
    sources: tuple[str, ...]
    runner: Literal["django", "pytest", "unittest"]
    labels: tuple[str, ...]
    path: tuple[str, ...] = (".",)
    requirements: tuple[str, ...] = ()
    licence: str = ""
    url: str = ""
    commit: str = ""
    coverage: str = ""


DJANGO = Recipe(
    name="django",
    distribution="Django",
    version="5.2.19",
    sources=("django",),
    path=(".", "tests"),
    requirements=("asgiref", "sqlparse", "tzdata", "jinja2"),
    runner="django",
    licence="BSD-3-Clause",
    url="https://github.com/django/django",
    commit="89807fbde8b7",
    coverage="*/__init__.py",
    labels=(
        "utils_tests", "forms_tests", "template_tests", "queries", "aggregation", "expressions", "lookup",
        "model_fields", "schema", "migrations", "admin_views", "auth_tests", "httpwrappers", "middleware",
        "urlpatterns", "view_tests", "messages_tests", "sessions_tests", "staticfiles_tests", "generic_views", "mail",
        "test_utils", "file_storage", "handlers", "pagination", "syndication_tests", "sitemaps_tests", "admin_checks",
        "cache", "test_client", "requests_tests", "check_framework", "modeladmin", "i18n", "serializers",
    ),
)  # fmt: skip
SYMPY = Recipe(
    name="sympy",
    distribution="sympy",
    version="1.14.0",
    sources=("sympy",),
    requirements=("mpmath", "pytest", "hypothesis"),
    runner="pytest",
    licence="BSD-3-Clause",
    url="https://github.com/sympy/sympy",
    commit="51be47d70071",
    # Files, since the tests of whole folders take minutes.
    labels=tuple(
        f"sympy/{room}/tests/test_{name}.py"
        for room, names in {
            "polys": ("densebasic", "densearith", "densetools", "galoistools", "monomials"),
            "utilities": ("iterables",),
            "combinatorics": ("permutations", "partitions", "perm_groups"),
            "ntheory": ("factor_",),
            "core": ("containers",),
            "sets": ("sets",),
        }.items()
        for name in names
    ),
)
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (DJANGO, SYMPY)}


def label_of(recipe: Recipe, test: str, labels: Sequence[str] = ()) -> str:
    """Return the label with which a test is loaded.

    It is the one of `labels`, or else of the recipe's, that the test is in; else the file of a test of pytest, or the
    first part of the name.
    """
    for label in (*labels, *recipe.labels):
        if test == label or test.startswith((f"{label}.", f"{label}/", f"{label}::")):
            return label
    return test.partition("::")[0] if "::" in test else test.partition(".")[0]


def recipe_of(name: str) -> Recipe:
    """Return the recipe of a repository: one of `RECIPES`, or that of the file `$GENCODE_HOME/recipes/NAME.toml`.

    Raises UserError if there is none, or the file is invalid.
    """
    if name in RECIPES:
        return RECIPES[name]
    files = {path.stem: path for path in (home() / "recipes").glob("*.toml")}
    if name not in files:
        raise UserError(f"there is no repository {name!r}{nearest(name, [*RECIPES, *files])}")
    return read_recipe(files[name])


def read_recipe(path: Path) -> Recipe:
    """Return the recipe in a TOML file, whose keys are the fields of `Recipe`, and whose stem is the name.

    Raises UserError if it can't be read, or a key is missing, unknown or of another type.
    """
    values = {"name": path.stem} | read(path, str(path), toml)
    known = [field.name for field in fields(Recipe)]
    for key in values:
        if key not in known:
            raise UserError(f"{path}: there is no key {key!r} in a recipe{nearest(key, known)}")
    try:
        return TypeAdapter(Recipe).validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{path}: {first['loc'][0]}: {first['msg']}") from error
