"""Finding a container engine, and the command lines that it gets."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.oci.backend import OciSandbox
from alpha_codium.sandbox.oci.container_engine import Engine, descendants, find_engine

ANSWERS = "#!/bin/sh\nexit 0\n"
SILENT = "#!/bin/sh\necho 'Cannot connect to the daemon' >&2\nexit 1\n"
IMAGELESS = "#!/bin/sh\n[ $1 = image ] && exit 1\nexit 0\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which commands are found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


def test_a_machine_without_an_engine_is_told_which_there_could_be(path: Path) -> None:
    with pytest.raises(SandboxError, match=r"docker: not installed; podman: not installed.*sandbox\.oci\.engine"):
        find_engine("", "")


def test_a_docker_client_without_its_daemon_is_no_engine_where_podman_answers(path: Path) -> None:
    put(path, "docker", SILENT)
    with pytest.raises(SandboxError, match="docker: Cannot connect to the daemon; podman: not installed"):
        find_engine("", "")
    put(path, "podman", ANSWERS)
    assert find_engine("", "runsc") == Engine(("podman",), "runsc")


def test_an_engine_may_be_named_with_options_of_its_own(path: Path) -> None:
    file = put(path, "podman", ANSWERS)
    engine = find_engine(f"{file} --cgroup-manager=cgroupfs", "", ("--foo",))
    assert engine == Engine((str(file), "--cgroup-manager=cgroupfs"), "", ("--foo",))
    assert engine.kind == "podman"


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("dokcer", "did you mean 'docker'"),
        ("podman", "podman: not installed"),
        ("docker", "docker: Cannot connect to the daemon"),
    ],
)
def test_what_can_not_be_had_is_refused_in_one_line(path: Path, wanted: str, told: str) -> None:
    put(path, "docker", SILENT)
    with pytest.raises(SandboxError, match=told) as caught:
        find_engine(wanted, "")
    assert "\n" not in str(caught.value)


async def test_an_image_that_is_not_there_is_said_with_how_to_build_it(path: Path) -> None:
    put(path, "docker", IMAGELESS)
    with pytest.raises(
        SandboxError, match=r"docker has no image 'gencode-worker'.*docker/worker\.Dockerfile"
    ) as caught:
        async with OciSandbox(workers=1):
            pass
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["docker", "podman"])
@pytest.mark.parametrize("runtime", ["", "runc", "runsc"])
def test_no_container_gets_a_network_a_capability_of_the_host_or_a_root_to_write_to(kind: str, runtime: str) -> None:
    line = Engine((kind,), runtime, ("--extra",)).run("image", "name", ("python3", "-c", "x"), {"A": "b"}, 2**30)
    for option in ("--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--rm"):
        assert option in line
    assert f"--memory={2**30}" in line and f"--memory-swap={2**30}" in line and "--env=A=b" in line
    assert [part for part in line if part.startswith("--pids-limit=")]
    assert line[-3:] == ("image", "-c", "x") and "--entrypoint=python3" in line and "--extra" in line
    assert not [part for part in line if part.startswith(("--volume", "-v", "--privileged", "--mount"))]
    (user,) = (part for part in line if part.startswith("--user="))
    added = [part for part in line if part.startswith("--cap-add")]
    if runtime == "runsc":
        assert user == "--user=0:0" and "--cap-add=SYS_ADMIN" in added
    else:
        assert user != "--user=0:0" and added == []
    if runtime:
        assert (line[:3] == (kind, "--runtime", runtime)) == (kind == "podman")
        assert (f"--runtime={runtime}" in line) == (kind == "docker")


def test_containers_have_users_of_their_own() -> None:
    """Processes are counted by user, whatever container they are in."""
    engine = Engine(("docker",))
    lines = [engine.run("image", "name", ("python3",), {}, number=number) for number in range(500)]
    users = {part for line in lines for part in line if part.startswith("--user=")}
    assert len(users) == 500 and "--user=0:0" not in users


@pytest.mark.parametrize("name", ["engine", "options"])
async def test_a_setting_that_is_no_command_line_is_refused_in_one_line(path: Path, name: str) -> None:
    put(path, "podman", ANSWERS)
    options: Any = {name: 'podman "--root'}
    with pytest.raises(SandboxError, match=f"sandbox.oci.{name} is .*No closing quotation") as caught:
        async with OciSandbox(workers=1, **options):
            pass
    assert "\n" not in str(caught.value)


def test_an_engine_of_spaces_is_none_that_was_asked_for(path: Path) -> None:
    put(path, "podman", ANSWERS)
    assert find_engine("  ", "").kind == "podman"


@pytest.mark.parametrize("said", ["", "a line\n", "null\nnull\nnull x\n"])
async def test_an_image_whose_interpreter_says_something_else_is_refused_in_one_line(path: Path, said: str) -> None:
    put(path, "podman", f"#!/bin/sh\nprintf '{said}'\n")
    with pytest.raises(SandboxError, match="doesn't behave like a Python interpreter") as caught:
        async with OciSandbox(workers=1):
            pass
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["#!/bin/sh\nexec /bin/sleep 600\n", "no program"])
async def test_an_engine_that_does_not_answer_is_said(path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    put(path, "podman", text)
    monkeypatch.setattr("alpha_codium.sandbox.engine.containers.launch.ANSWER_SECONDS", 0.2)
    with pytest.raises(SandboxError, match=r"podman doesn't respond within|cannot run podman"):
        find_engine("podman", "")
    with pytest.raises(SandboxError, match=r"podman doesn't respond within|cannot run podman"):
        Engine(("podman",)).has_image("image")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root takes the processes of containers into a group")
def test_processes_that_another_machine_numbers_so_are_left_alone(path: Path) -> None:
    """What is in a container's group is killed at its end: nobody may be in it by mistake."""
    with subprocess.Popen(["/bin/sleep", "600"]) as stranger:
        put(path, "podman", f"#!/bin/sh\necho {stranger.pid}\n")
        assert Engine(("podman",)).members("gencode-1") == []
        stranger.kill()


def test_descendants_are_found_however_deep() -> None:
    with subprocess.Popen(["sh", "-c", "sh -c 'sleep 60 & wait' & wait"]) as process:
        try:
            while len(found := descendants(process.pid)) < 2:
                pass
            assert len(found) == 2
        finally:
            for number in [*found, process.pid]:
                subprocess.run(["kill", "-9", str(number)], check=False)
