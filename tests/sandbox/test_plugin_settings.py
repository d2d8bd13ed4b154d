"""Settings of a backend from another package."""

from pathlib import Path
from typing import Any

import pytest

from alpha_codium.config import load_settings
from alpha_codium.errors import SettingsError, UserError
from alpha_codium.sandbox import sandbox_of

BACKENDS = """
from pydantic import BaseModel
from alpha_codium.sandbox import Sandbox

class Plain:
    def __init__(self, workers=0, isolation=True, interpreter="", preload=(), queue="", cores=1):
        self.own = (queue, cores)

class Model(BaseModel, extra="forbid"):
    queue: str = "short"
    cores: int = 1

class Modelled(Plain):
    settings_model = Model

class Outdated:
    def __init__(self, **options):
        self.start(**options)

    def start(self, workers):
        pass

class Incomplete(Sandbox):
    def __init__(self, **options):
        pass
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with the backends `plain` and `modelled`."""
    info = tmp_path / "my_backends-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-backends\nVersion: 1\n")
    names = ("Plain", "Modelled", "Outdated", "Incomplete")
    points = "".join(f"{name.lower()} = my_backends:{name}\n" for name in names)
    (info / "entry_points.txt").write_text(f"[alpha_codium.sandboxes]\n{points}")
    (tmp_path / "my_backends.py").write_text(BACKENDS)
    monkeypatch.syspath_prepend(tmp_path)


def opened(name: str, *overrides: str, environment: dict[str, str] | None = None) -> Any:
    texts = [f"code_tester.tester_type={name}", *(f"sandbox.{name}.{text}" for text in overrides)]
    return sandbox_of(load_settings(None, texts, environment or {}))


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(("name", "default"), [("plain", ""), ("modelled", "short")])
def test_a_backends_own_table_is_handed_to_it(name: str, default: str, tmp_path: Path) -> None:
    assert opened(name).own == (default, 1)
    assert opened(name, "queue=long", "cores=4").own == ("long", 4)
    assert opened(name, environment={f"GENCODE_SANDBOX__{name.upper()}__QUEUE": "night"}).own == ("night", 1)
    file = tmp_path / "mine.toml"
    file.write_text(f"[code_tester]\ntester_type = '{name}'\n[sandbox.{name}]\ncores = 2\n")
    settings = load_settings(file, environment={})
    assert sandbox_of(settings).own == (default, 2)  # type: ignore[attr-defined]
    assert load_settings(base=settings.model_dump(), environment={}) == settings


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "override", "message"),
    [
        ("plain", "queu=x", "sandbox 'plain' doesn't accept its settings .*unexpected keyword argument 'queu'"),
        ("modelled", "queu=x", "setting sandbox.modelled.queu: Extra inputs are not permitted"),
        ("modelled", "cores=many", "setting sandbox.modelled.cores: .*not 'many'"),
    ],
)
def test_a_table_that_a_backend_does_not_take_is_refused_in_one_line(name: str, override: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        opened(name, override)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(("name", "reason"), [("outdated", "unexpected keyword argument"), ("incomplete", "execute")])
def test_a_backend_that_can_not_be_opened_is_named_in_one_line(name: str, reason: str) -> None:
    with pytest.raises(UserError, match=f"sandbox '{name}' .* is incomplete: .*{reason}") as caught:
        opened(name)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("package")
def test_a_setting_of_a_plugin_may_be_a_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[code_tester]\ntester_type = 'plain'\n[sandbox.plain.queue]\nname = 'long'\n")
    settings = load_settings(file, environment={})
    assert sandbox_of(settings).own == ({"name": "long"}, 1)  # type: ignore[attr-defined]
    settings = load_settings(file, ["sandbox.plain.queue=night"], environment={})
    assert sandbox_of(settings).own == ("night", 1)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("text", ["plain.queue=x", "sandbox.plain=x", "sandbox=x", "sandbox.plain.queue.name=x"])
def test_only_a_table_of_the_section_sandbox_is_a_plugins(text: str) -> None:
    with pytest.raises(SettingsError, match=r"unknown section|settings are given as"):
        load_settings(None, [text], {})
