"""Recipes: what gencode knows about each repository, such as where its code and its tests are."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError, nearest
from alpha_codium.paths import home

# How tests are run -> files in `inside/`: what runs them, and what loads those of a label.
RUNNERS = {
    "django": ("unittest_suite.py", "load_django.py"),
    "pytest": ("pytest_suite.py", "load_pytest.py"),
    "unittest": ("unittest_suite.py", "load_unittest.py"),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to get a repository and load its tests.

    `distribution` and `version` are those of its source package on PyPI. `sources` are the folders with the code of
    tasks, `path` those that are importable, and `requirements` what pip installs beside it. `runner` is how its tests
    are run, see `RUNNERS`. `labels` are the labels of which tasks are made by default; each is loaded in a process of
    its own. `url` is its git repository, and `commit` that of rows that don't say their version, as those of the
    existing benchmark.
    """

    name: str
    distribution: str
    version: str
    sources: tuple[str, ...]
    runner: str
    labels: tuple[str, ...]
    path: tuple[str, ...] = (".",)
    requirements: tuple[str, ...] = ()
    licence: str = ""
    url: str = ""
    commit: str = ""


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
    labels=(
        "utils_tests", "forms_tests", "template_tests", "queries", "aggregation", "expressions", "lookup",
        "annotations", "model_fields", "schema", "migrations", "admin_views", "auth_tests", "httpwrappers",
        "middleware", "urlpatterns", "validators", "view_tests", "messages_tests", "sessions_tests",
        "staticfiles_tests", "generic_views", "signing", "mail", "test_utils", "file_storage", "handlers",
        "pagination", "syndication_tests", "sitemaps_tests",
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
        for room, name in (
            ("polys", "densebasic"),
            ("polys", "densearith"),
            ("polys", "densetools"),
            ("polys", "galoistools"),
            ("polys", "monomials"),
            ("utilities", "iterables"),
            ("combinatorics", "permutations"),
            ("combinatorics", "partitions"),
            ("combinatorics", "perm_groups"),
            ("ntheory", "factor_"),
            ("core", "containers"),
            ("sets", "sets"),
        )
    ),
)
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (DJANGO, SYMPY)}


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
    try:
        values: dict[str, Any] = {"name": path.stem} | tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} can't be read: {error}") from error
    kinds = {field.name: str(field.type) for field in fields(Recipe)}
    for key, value in values.items():
        if key not in kinds:
            raise UserError(f"{path}: there is no key {key!r} in a recipe{nearest(key, kinds)}")
        texts = value if isinstance(value, list) else [value]
        is_list = kinds[key] != "<class 'str'>"
        if is_list != isinstance(value, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{path}: {key} must be {'a list of texts' if is_list else 'a text'}")
    missing = [field.name for field in fields(Recipe) if field.default is MISSING and field.name not in values]
    if missing:
        raise UserError(f"{path}: the key {missing[0]} is missing")
    if values["runner"] not in RUNNERS:
        raise UserError(f"{path}: there is no runner {values['runner']!r}{nearest(values['runner'], RUNNERS)}")
    frozen: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return Recipe(**frozen)
