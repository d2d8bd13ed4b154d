"""Getting a repository, and the environment of its tests."""

import subprocess
import tarfile
import venv
from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.repository.checkout import check_out, version_of
from alpha_codium.repository.harness import RepositoryTests, edit_of
from alpha_codium.repository.methods import find_method, stubbed
from alpha_codium.repository.recipes import DJANGO, Recipe, recipe_of

SHOP = Recipe("shop", "shop", "1.0", ("shop",), "unittest", ())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source package, beside an empty GENCODE_HOME."""
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    for name in ("shop/prices.py", "shop/tests/test_prices.py", "setup.py"):
        path = tmp_path / "shop-1.0" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
    with tarfile.open(tmp_path / "shop-1.0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "shop-1.0", "shop-1.0")
    return tmp_path / "shop-1.0.tar.gz"


@pytest.mark.thorough
def test_a_package_is_unpacked_and_gets_an_environment_once(package: Path) -> None:
    first = check_out(SHOP, sdist=package)
    package.unlink()
    assert check_out(SHOP) == first
    assert list(first.files()) == ["shop/prices.py"]
    assert first.source("shop/prices.py") == "# shop/prices.py\n"
    assert first.interpreter.exists()
    checkout = package.with_name("shop-1.0")
    copied = check_out(SHOP, checkout=checkout)
    assert (copied.source("shop/prices.py"), copied.interpreter) == ("# shop/prices.py\n", first.interpreter)
    assert copied.digest() == first.digest()
    (checkout / "setup.py").write_text("# changed")
    other = check_out(SHOP, checkout=checkout)
    assert other.digest() != first.digest() and other.folder != copied.folder
    assert check_out(SHOP, other.version) == other, "without the checkout, by the version that its tasks have"


def test_the_version_of_a_checkout_is_its_commit_if_nothing_was_changed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    plain = version_of(tmp_path)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "a.py"], [*who, "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    commit = version_of(tmp_path)
    assert len(commit) == 12 and commit != plain
    (tmp_path / "a.py").write_text("2")
    assert version_of(tmp_path).startswith(f"{commit}-")
    with pytest.raises(UserError, match="there is no folder"):
        version_of(tmp_path / "none")


@pytest.mark.thorough
def test_what_is_no_source_package_is_refused(package: Path) -> None:
    package.write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"shop-1.0.tar.gz is not a source package: "):
        check_out(SHOP, sdist=package)


def test_a_folder_of_something_else_is_refused_before_anything_runs(package: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(UserError, match=r"other isn't shop: there is no \w+ in it$"):
        check_out(SHOP, checkout=tmp_path / "other")
    with pytest.raises(UserError, match=r"there is no folder .*missing"):
        check_out(SHOP, checkout=tmp_path / "missing")


def test_without_pip_the_command_that_installs_it_is_named(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(package.parent / "bare")
    bare = package.parent / "bare" / "bin" / "python"
    monkeypatch.setattr("sys.executable", str(bare))
    with pytest.raises(UserError, match=rf"needs pip: {bare} -m ensurepip"):
        check_out(SHOP, sdist=package)


@pytest.mark.thorough
def test_a_version_that_does_not_exist_is_refused_with_the_reason_of_pip(package: Path) -> None:
    with pytest.raises(UserError, match=r"pip download failed: .*Django==0.0.1"):
        check_out(DJANGO, "0.0.1")


def test_an_unknown_repository_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"there is no repository 'jango' \(did you mean 'django'\?\)"):
        recipe_of("jango")


@pytest.mark.slow
@pytest.mark.asyncio
async def test_the_tests_of_django_pass_on_itself_and_fail_on_a_stub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    django = check_out(DJANGO)
    before, source = django.digest(), django.source("django/utils/text.py")
    async with RepositoryTests(django, "utils_tests") as tests:
        names = [name for name in await tests.names() if ".test_text." in name]
        same = edit_of(source, "django/utils/text.py", "slugify", source)
        assert (await tests.run(same, names)).passed
        stub = stubbed(source, find_method(source, "slugify"))
        run = await tests.run(edit_of(source, "django/utils/text.py", "slugify", stub), names)
        failed = [result.name for result in run.results if result.status not in ("passed", "skipped")]
        assert failed == ["utils_tests.test_text.TestUtilsText.test_slugify"]
    assert django.digest() == before
