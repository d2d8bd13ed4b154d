"""Recipes in files."""

from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.repository.recipes import Recipe, recipe_of

SHOP = 'distribution = "Shop"\nversion = "1"\nsources = ["shop"]\nrunner = "pytest"\nlabels = ["tests"]\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    (tmp_path / "recipes").mkdir()
    return tmp_path / "recipes" / "shop.toml"


def test_a_recipe_is_found_in_the_folder_of_recipes(file: Path) -> None:
    file.write_text(SHOP)
    assert recipe_of("shop") == Recipe("shop", "Shop", "1", ("shop",), "pytest", ("tests",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "is not valid TOML: "),
        (f'{SHOP}runer = "a"', r"there is no key 'runer' in a recipe \(did you mean 'runner'\?\)"),
        (SHOP.replace('["shop"]', '"shop"'), "sources: Input should be a valid tuple"),
        (SHOP.replace('"1"', "1"), "version: Input should be a valid string"),
        (SHOP.replace('version = "1"', ""), "version: Field required"),
        (SHOP.replace("pytest", "pytets"), "runner: Input should be 'django', 'pytest' or 'unittest'"),
    ],
)
def test_a_recipe_that_is_wrong_is_refused_with_the_reason(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(UserError, match=rf"shop\.toml:? {message}"):
        recipe_of("shop")


def test_an_unknown_repository_is_refused_with_the_nearest(file: Path) -> None:
    file.write_text(SHOP)
    with pytest.raises(UserError, match=r"there is no repository 'shp' \(did you mean 'shop'\?\)"):
        recipe_of("shp")
