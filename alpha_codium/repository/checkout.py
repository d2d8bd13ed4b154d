"""A repository on this machine: its files, and the virtual environment in which its tests run."""

import functools
import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.errors import DatasetError, UserError
from alpha_codium.paths import home
from alpha_codium.repository.recipes import Recipe

INSTALLED = "installed"
# Beside the files of a source package, its name and digest.
SOURCE = "source.txt"
# For the clock: see `inside/pinned`.
ALWAYS_REQUIRED = ("time-machine",)
NOT_COPIED = (".git", "__pycache__")
DIFFERS = "differs from that of"
# A version that is a commit, with a digest if files were changed.
COMMIT = re.compile(r"([0-9a-f]{7,40})(-[0-9a-f]{12})?")
# The folders of Python's library and of packages, wherever they are; and the names that `tempfile` makes.
_NO_NAME = r"\s'\"`<>:()\[\]{}|=,;"
_FOLDERS = rf"(?<![^{_NO_NAME}])(?:/+[^/{_NO_NAME}]+)*/+"
LIBRARY = re.compile(rf"{_FOLDERS}lib(?:32|64)?/python3(?:\.\d+)?t?/(?:(?:site|dist)-packages/)?")
TEMPORARY = re.compile(rf"{_FOLDERS}tmp[a-z0-9_]{{8}}(?!\w)")
ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]+(?=>)")


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files of a repository, in `folder`, and the interpreter that has its requirements."""

    recipe: Recipe
    version: str
    folder: Path
    interpreter: Path

    def source(self, file: str) -> str:
        """Return the text of a file, by its path relative to the repository; raises OSError, and ValueError."""
        if ".." in Path(file).parts:
            raise ValueError(f"{file} is not a path in the repository")
        return (self.folder / file.lstrip("/")).read_text("utf-8")

    def files(self) -> Iterator[str]:
        """Yield the paths of the Python files that tasks are made of, sorted."""
        for sources in self.recipe.sources:
            for path in sorted((self.folder / sources).rglob("*.py")):
                if "tests" not in path.relative_to(self.folder).parts:
                    yield path.relative_to(self.folder).as_posix()

    def labels(self) -> list[str]:
        """Return the recipe's labels, and those that its pattern `coverage` finds."""
        root, found = self.folder / self.recipe.path[-1], []
        for path in sorted(root.glob(self.recipe.coverage)) if self.recipe.coverage else ():
            parts = path.relative_to(root).with_suffix("").parts
            dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(path.relative_to(self.folder).as_posix() if self.recipe.runner == "pytest" else dotted)
        return list(dict.fromkeys([*self.recipe.labels, *found]))

    def require(self, file: str, text: str, version: str = "") -> None:
        """Raise DatasetError unless a file of a task, which is of this version, has this text here, too."""
        try:
            own = self.source(file)
        except (OSError, ValueError):
            own = ""
        if own != text.replace("\r\n", "\n"):
            raise other_files(file, self.recipe, f"{self.version} here", version)

    def hidden(self, text: str) -> str:
        """Return what tests say as it is on any machine: without folders, temporary names and addresses of memory."""
        for folder, name in _shown(self):
            text = re.sub(rf"(?<![\w.-]){re.escape(folder)}(?![\w.-]){'' if name else '/'}", name, text)
        return ADDRESS.sub("0x...", TEMPORARY.sub("TMPDIR/tmp", LIBRARY.sub("", text)))

    def packages(self) -> str:
        """Return the folder with the installed requirements."""
        asking = "import sysconfig; print(sysconfig.get_path('purelib'))"
        return subprocess.check_output([self.interpreter, "-I", "-c", asking], text=True).strip()

    def source_package(self) -> str:
        """Return the name and SHA-256 of the source package; "" if the files are from elsewhere, or it isn't known."""
        noted = self.folder.parent / SOURCE
        return noted.read_text("utf-8") if noted.exists() else ""

    def digest(self) -> str:
        """Return the SHA-256 of the names and contents of all files."""
        return digest_of(self.folder)


@functools.lru_cache(maxsize=8)
def _shown(checkout: Checkout) -> tuple[tuple[str, str], ...]:
    """Return folders of this machine, each with the name that is shown instead, the inner ones first.

    The names of files in folders without a name begin after them.
    """
    environment = checkout.interpreter.parent.parent
    library = Path(sysconfig.get_path("stdlib"))
    nameless = (checkout.folder, environment / "lib" / library.name / "site-packages", library)
    found = [(str(path), "") for folder in nameless for path in {folder, folder.resolve()}]
    named = {
        checkout.folder: ".",
        environment: "environment",
        Path(sys.base_prefix): "python",
        home(): "$GENCODE_HOME",
        Path.home(): "~",
    }
    for folder, name in named.items():
        found += [(str(path), name) for path in {folder.absolute(), folder.resolve()} - {Path("/")}]
    return tuple(found)


def digest(text: str) -> str:
    """Return the SHA-256 of a file's text."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()


def other_files(file: str, recipe: Recipe, place: str, version: str) -> DatasetError:
    """Return the error that a file of a task, which is of this version, isn't that of a repository at some place."""
    return DatasetError(f"{file} {DIFFERS} {recipe.name} {place}, so the task can't be run there: "
                        f"{remedy(recipe, version)}")  # fmt: skip


def remedy(recipe: Recipe, version: str) -> str:
    """Return how to get the files of a task, in one line; its version is that of rows without one by default."""
    commit = COMMIT.fullmatch(version or recipe.commit)
    clone = f"git clone {recipe.url or 'URL'} DIR && git -C DIR checkout {commit[1] if commit else 'COMMIT'}"
    return f"get the files of its commit (`{clone}`), and give `checkout` DIR"


def digest_of(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files in a folder, without those of `NOT_COPIED`."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not path.is_symlink() and not set(name.parts).intersection(NOT_COPIED):
            total.update(f"{name.as_posix()}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def check_out(
    recipe: Recipe, version: str = "", *, sdist: Path | None = None, checkout: Path | None = None
) -> Checkout:
    """Return a repository, which is fetched from PyPI unless a source package or a checkout is given.

    Its files are kept in `$GENCODE_HOME/repositories`, and used again if those of this version are there. The version
    of a source package is in its name, that of a checkout is its commit. Raises UserError if pip fails, or the files
    can't be read.
    """
    if sdist is not None:
        version = sdist.name.removesuffix(".tar.gz").rpartition("-")[2]
    elif checkout is not None:
        version = version_of(checkout)
    version = version or recipe.version
    folder = home() / "repositories" / f"{recipe.name}-{version}"
    interpreter = _environment(recipe) / "bin" / "python"
    tree = folder / "tree"
    if not tree.exists():
        if COMMIT.fullmatch(version) and not sdist and not checkout:
            raise UserError(f"{recipe.name} {version} isn't on PyPI: {remedy(recipe, version)}")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            if checkout is None:
                package = sdist or _download(recipe, version, Path(temporary))
                files = _unpack(package, Path(temporary))
                noted = f"{package.name}, SHA-256 {hashlib.sha256(package.read_bytes()).hexdigest()}"
                (folder / SOURCE).write_text(noted, "utf-8")
            else:
                files = _copy(checkout, Path(temporary))
            missing = [name for name in (*recipe.sources, *recipe.path) if not (files / name).exists()]
            if missing:
                raise UserError(
                    f"{checkout or sdist or files.name} isn't {recipe.name}: there is no {missing[0]} in it"
                )
            # Files that aren't meant to be compiled, such as templates, are no error.
            compiling = [interpreter, "-m", "compileall", "-q", "-j0", files]
            subprocess.run(compiling, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            files.rename(tree)
    return Checkout(recipe, version, tree, interpreter)


def version_of(folder: Path) -> str:
    """Return the commit of a git checkout, with a digest of its files unless they are those of the commit."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}")
    commit = _git(folder, "rev-parse", "--short=12", "HEAD")
    if commit and not _git(folder, "status", "--porcelain"):
        return commit
    return "-".join(filter(None, (commit, digest_of(folder)[:12])))


def _git(folder: Path, *arguments: str) -> str:
    """Return what git prints; "" if there is no git, or the folder isn't the root of a checkout."""
    if not (folder / ".git").exists() or shutil.which("git") is None:
        return ""
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _copy(checkout: Path, folder: Path) -> Path:
    """Copy the files of a checkout, which all users may read then, since tests run as another user."""
    copied = folder / "copy"
    try:
        shutil.copytree(checkout, copied, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
    except (OSError, shutil.Error) as error:
        raise UserError(f"{checkout} can't be copied: {error}") from error
    for path in (copied, *copied.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    return copied


def _download(recipe: Recipe, version: str, folder: Path) -> Path:
    what = f"{recipe.distribution}=={version}"
    _pip("download", "--no-deps", "--no-binary", recipe.distribution, "--dest", str(folder), what)
    return next(folder.glob("*.tar.gz"))


def _unpack(package: Path, folder: Path) -> Path:
    """Return the one folder in a source package, unpacked into `folder`."""
    try:
        with tarfile.open(package) as archive:
            archive.extractall(folder / "unpacked", filter="data")
        (inner,) = (folder / "unpacked").iterdir()
    except (OSError, tarfile.TarError, ValueError) as error:
        raise UserError(f"{package} is not a source package: {error}") from error
    return inner


def _environment(recipe: Recipe) -> Path:
    """Return the virtual environment with the recipe's requirements, which is made if missing."""
    requirements = (*recipe.requirements, *ALWAYS_REQUIRED)
    digest = hashlib.sha256("\n".join((sys.version, *requirements)).encode()).hexdigest()[:8]
    folder = home() / "repositories" / f"{recipe.name}-environment-{digest}"
    if not (folder / INSTALLED).exists():
        # With our own pip: installing one in the environment takes longer than the rest.
        venv.create(folder, clear=True)
        _pip("install", *requirements, options=("--python", str(folder / "bin" / "python")))
        (folder / INSTALLED).touch()
    return folder


def _pip(*arguments: str, options: Sequence[str] = ()) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *options, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named pip" in done.stderr:
        raise UserError(f"getting a repository needs pip: {sys.executable} -m ensurepip")
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise UserError(f"pip {arguments[0]} failed: {reason[0]}")
