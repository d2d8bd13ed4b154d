"""The images of docker/, built from nothing and run for real: in gVisor, without network.

The base image is made of Debian's packages, since no registry of images may be in reach; it is kept in a storage of
this user's tests, as is each layer that is still as it was. `make images` runs this.
"""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox.conformance.running import run_one
from alpha_codium.sandbox.oci.backend import OciSandbox
from alpha_codium.verdict import Status
from tests.sandbox.oci.environment import RUNSC_FLAGS, STORE, podman, storage
from tests.support import ROOT

pytestmark = [pytest.mark.images, pytest.mark.timeout(900)]

NEEDED = ("buildah", "podman", "runsc", "debootstrap")
BASE = "localhost/gencode-test-base:bookworm"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# What Debian's own images have, too: an image that isn't whole is thrown away, so nothing needs to be synced.
UNSAFE = "force-unsafe-io"
ENVIRONMENT = os.environ | {"BUILDAH_ISOLATION": "chroot"}
# Podman's own defaults may be above what this machine allows.
LIMITS_OF_RUNC = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096")
# Rights in gVisor's kernel, not in the host's.
AS_ITS_ROOT = ("--user=0", "--cap-add=SYS_ADMIN")


def buildah(*command: str) -> str:
    return run("buildah", *storage(), *command)


def in_gvisor() -> tuple[str, ...]:
    """The command that runs an image in gVisor, up to the options of the run."""
    return (*podman(), f"--runtime={shutil.which('runsc')}", *RUNSC_FLAGS, "run", "--rm", "--network=none")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@functools.cache
def base() -> str:
    """The base image, made where it isn't there yet; skips the test where it can't be."""
    if os.geteuid() != 0:
        pytest.skip("building images needs root here")
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {' and no '.join(missing)}: apt-get install {' '.join(NEEDED)}")
    STORE.mkdir(parents=True, exist_ok=True)
    # What yesterday's builds left, or each change would cost half a gigabyte for ever.
    run(*podman(), "image", "prune", "--force", "--filter=until=24h")
    if subprocess.run([*podman(), "image", "exists", BASE], check=False).returncode:
        with tempfile.TemporaryDirectory() as folder:
            run("debootstrap", "--variant=minbase", "bookworm", f"{folder}/root")
            Path(folder, "root/etc/dpkg/dpkg.cfg.d/unsafe").write_text(f"{UNSAFE}\n")
            container = buildah("from", "scratch").strip()
            buildah("add", "--quiet", container, f"{folder}/root", "/")
            buildah("commit", "--quiet", "--rm", container, BASE)
    return BASE


@functools.cache
def built(name: str, context: str, on: str = "") -> str:
    """The image of `docker/NAME.Dockerfile`, built on the base image or another."""
    return build(name, f"docker/{name}.Dockerfile", context, on)


@functools.cache
def judge(languages: str) -> str:
    """The judge's image, with the compilers of `all` languages or with `python` only; it has a health check."""
    given = (f"--build-arg=LANGUAGES={languages}", "--format=docker")
    return build(f"judge-{languages}", "docker/judge.Dockerfile", ".", given=given)


def build(name: str, dockerfile: str, context: str, on: str = "", given: Sequence[str] = ()) -> str:
    """The image of a Dockerfile."""
    options = ["--layers", "--isolation=chroot", "--network=host", f"--build-arg=BASE={on or base()}", *given]
    if CERTIFICATES.exists():
        options += [f"--volume={CERTIFICATES}:/ca.crt:ro", "--build-arg=PIP_CERT=/ca.crt"]
    image = f"localhost/gencode-test-{name}"
    buildah("build", *options, f"--tag={image}", f"--file={dockerfile}", context)
    return image


def in_linux(*options: str, network: str = "host") -> tuple[str, ...]:
    """The command that runs an image on this machine's kernel, up to the options of the run."""
    return (
        *podman(),
        f"--runtime={shutil.which('runc')}",
        "run",
        "--rm",
        f"--network={network}",
        *LIMITS_OF_RUNC,
        *options,
    )


def facts(image: str) -> dict[str, object]:
    return json.loads(buildah("inspect", "--type=image", image))["OCIv1"]["config"]


@pytest.mark.parametrize(("name", "context"), [("worker", "docker"), ("eval", "."), ("judge", ".")])
def test_an_image_is_of_a_user_who_is_not_root_and_has_no_tool_to_install_more(name: str, context: str) -> None:
    image = judge("python") if name == "judge" else built(name, context)
    assert facts(image)["User"] == "10001:10001"
    look = "import os, shutil; print(os.getuid(), shutil.which('pip'), shutil.which('gcc'), os.path.exists('/build'))"
    assert run(*in_gvisor(), "--entrypoint=python3", image, "-c", look).split() == ["10001", "None", "None", "False"]


async def test_programs_run_in_the_worker_image_in_gvisor() -> None:
    image = built("worker", "docker")
    engine = " ".join((*podman(), *RUNSC_FLAGS))
    runtime = shutil.which("runsc") or ""
    async with OciSandbox(workers=1, isolation="strict", image=image, engine=engine, runtime=runtime) as sandbox:
        program = "import numpy, socket\nprint(numpy.arange(int(input())).sum())\nsocket.socket()"
        execution = await run_one(sandbox, program, "5\n")
        assert (execution.stdout, execution.status) == ("10\n", Status.RUNTIME_ERROR)
        assert "PermissionError" in execution.stderr
        endless = await run_one(sandbox, "while True: pass", limits=Limits(cpu_seconds=0.5))
        assert endless.status is Status.TIME_LIMIT_EXCEEDED


def test_what_the_evaluation_image_imports_was_compiled_when_it_was_built() -> None:
    look = "import sys, datasets, alpha_codium.eval, alpha_codium.cli.eval, alpha_codium.app.evaluation\n"
    look += "from pathlib import Path\n"
    look += "files = {m: getattr(m, '__file__', None) or '' for m in list(sys.modules.values())}\n"
    look += "ours = [m for m, f in files.items() if f.startswith('/opt/gencode/') and f.endswith('.py')]\n"
    look += "print(len(ours) > 500, [m.__name__ for m in ours if not Path(m.__cached__).exists()])"
    assert run(*in_gvisor(), "--entrypoint=python3", built("eval", "."), "-c", look) == "True []\n"


def test_the_evaluation_image_judges_in_gvisor_without_network() -> None:
    data = f"--volume={ROOT}/examples/jars.json:/data/jars.json:ro"
    command = (
        "eval eval_cc_solutions --dataset_name jars --evaluation_test_type all --solutions both --json /tmp/r.json"
    )
    given = ("-o", "code_tester.tester_type=gvisor")
    script = f"gencode data import /data/jars.json >&2 && gencode {command} {' '.join(given)} >&2 && cat /tmp/r.json"
    options = (*AS_ITS_ROOT, "--env=GENCODE_HOME=/tmp/home", data, "--entrypoint=sh")
    result = json.loads(run(*in_gvisor(), *options, built("eval", "."), "-c", script))
    agreement = result["agreement"]
    assert result["complete"] is True
    assert agreement["correct_accepted"] == agreement["correct_total"] > 0
    assert agreement["incorrect_rejected"] == agreement["incorrect_total"] > 0


GRADING = """
import os
os.environ["HF_ALLOW_CODE_EVAL"] = "1"
from alpha_codium.metrics import code_eval
right, wrong = "def add(a, b): return a + b", "def add(a, b): return a * b"
print(code_eval.compute([[right, wrong]], ["assert add(2, 3) == 5"], k=[1], **OPTIONS)[0])
"""


@pytest.mark.parametrize("by", ["argument", "setting"])
def test_a_grading_script_runs_in_gvisor(by: str) -> None:
    script = GRADING.replace("OPTIONS", '{"tester_type": "gvisor"}' if by == "argument" else "{}")
    options = (*AS_ITS_ROOT, "--env=GENCODE_HOME=/tmp/home", "--entrypoint=python3")
    if by == "setting":
        options += ("--env=GENCODE_CODE_TESTER__TESTER_TYPE=gvisor",)
    assert run(*in_gvisor(), *options, built("eval", "."), "-c", script) == "{'pass@1': 0.5}\n"


def test_a_grading_script_that_names_no_sandbox_is_told_which_works_in_gvisor() -> None:
    options = (*AS_ITS_ROOT, "--env=GENCODE_HOME=/tmp/home", "--entrypoint=python3")
    command = [*in_gvisor(), *options, built("eval", "."), "-c", GRADING.replace("OPTIONS", "{}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert "use `ac.open_sandbox('gvisor')`" in done.stderr.splitlines()[-1]


def test_a_program_in_the_evaluation_image_reaches_nothing_of_it() -> None:
    check = ("sandbox", "check", "-o", "code_tester.tester_type=gvisor", "--json", "/tmp/facts.json")
    script = f"gencode {' '.join(check)} >&2 && cat /tmp/facts.json"
    options = (*AS_ITS_ROOT, "--env=GENCODE_HOME=/tmp/home", "--entrypoint=sh")
    found = json.loads(run(*in_gvisor(), *options, built("eval", "."), "-c", script))
    assert [found[name] for name in ("network", "other_processes", "host_files")] == ["no"] * 3


def test_without_its_rights_the_evaluation_image_says_how_to_give_them() -> None:
    command = [*in_gvisor(), built("eval", "."), "sandbox", "check", "-o", "code_tester.tester_type=gvisor"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 2
    assert "--user=0 --cap-add=SYS_ADMIN" in done.stderr and "Traceback" not in done.stderr


def test_deepminds_sandbox_judges_in_its_image() -> None:
    image = built("code_contests", "docker", on=built("eval", "."))
    data = f"--volume={ROOT}/examples/jars.json:/data/jars.json:ro"
    judge = "gencode eval eval_cc_solutions --dataset_name jars --evaluation_test_type all --json /tmp/r.json"
    script = f"gencode data import /data/jars.json >&2 && {judge} >&2 && cat /tmp/r.json"
    options = ("--privileged", "--user=0", "--env=GENCODE_HOME=/tmp/home", data, "--entrypoint=sh")
    result = json.loads(run(*in_linux(*options), image, "-c", script))
    assert result["sandbox"]["backend"] == "code_contests"
    assert result["complete"] is True
    assert result["agreement"]["correct_accepted"] == result["agreement"]["correct_total"] > 0


@pytest.mark.slow
def test_the_development_image_runs_the_tests_of_the_checkout_that_is_mounted(tmp_path) -> None:
    run("git", "clone", "--quiet", str(ROOT), str(tmp_path / "checkout"))
    certificates = [f"--volume={CERTIFICATES}:/ca.crt:ro", "--env=PIP_CERT=/ca.crt"] if CERTIFICATES.exists() else []
    options = ("--privileged", f"--volume={tmp_path}/checkout:/work", *certificates)
    tests = "PYTEST_OPTIONS=-q tests/sandbox/test_jobs.py tests/test_program.py"
    said = run(*in_linux(*options), built("dev", "docker"), "make", "test", tests)
    assert " passed" in said and "failed" not in said
