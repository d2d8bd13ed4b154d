"""`gencode serve` in the evaluation image: without privileges, in gVisor, and where programs can't be isolated."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.docker.test_images import AS_ITS_ROOT, ENVIRONMENT, built, in_gvisor, in_linux, judge, run
from tests.sandbox.oci.environment import podman

pytestmark = [pytest.mark.images, pytest.mark.timeout(900)]

# Those of docs/deploy.md.
UNPRIVILEGED = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
# The complete jail, which compilers and virtual machines need.
JAIL = ("--security-opt=seccomp=unconfined", "--security-opt=unmask=ALL")
LOCAL_SERVER = ("serve", "--workers", "2")
DOUBLE = """
import json, sys, urllib.request
verdicts = {}
for language, program in json.loads(sys.argv[1]).items():
    request = {"program": program, "language": language, "tests": [{"input": "21", "output": "42"}]}
    body = json.dumps(request | {"time_limit_seconds": 20}).encode()
    asked = urllib.request.Request("http://127.0.0.1:8080/v1/judge", body, {"Content-Type": "application/json"})
    verdicts[language] = json.load(urllib.request.urlopen(asked))["verdict"]
print(json.dumps(verdicts))
"""
DOUBLING = {
    "cpp": "#include <iostream>\nint main() { int a; std::cin >> a; std::cout << 2 * a << std::endl; }",
    "java": "import java.util.*; class Main { public static void main(String[] given) { "
    "System.out.println(2 * new Scanner(System.in).nextInt()); } }",
    "go": 'package main\nimport "fmt"\nfunc main() { var a int; fmt.Scan(&a); fmt.Println(2 * a) }',
    "javascript": "console.log(2 * parseInt(require('fs').readFileSync(0)))",
    "python2": "print 2 * int(raw_input())",
}
HOME = "--env=GENCODE_HOME=/tmp/home"
SERVER = ("serve", "--host", "0.0.0.0", "--port", "18473", "--workers", "2")
ASK = """
import json, subprocess, sys, urllib.request
server = subprocess.Popen(["gencode", "serve", "--port", "0", *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
address = server.stdout.readline().split()[2].rstrip(",")
tests = [{"input": "1 2", "output": "3"}, {"input": "4 5", "output": "8"}]
body = json.dumps({"program": "print(sum(map(int, input().split())))", "tests": tests}).encode()
request = urllib.request.Request(address + "/v1/judge", body, {"Content-Type": "application/json"})
answer = json.load(urllib.request.urlopen(request))
info = json.load(urllib.request.urlopen(address + "/v1/info"))
server.terminate()
print(json.dumps([[test["verdict"] for test in answer["tests"]], info["sandbox"], server.wait()]))
"""
# Without Landlock and namespaces.
NO_JAIL = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [
        {
            "names": ["landlock_create_ruleset", "unshare", "mount"],
            "action": "SCMP_ACT_ERRNO",
            "errnoRet": 1,
        }
    ],
}


@contextmanager
def container(*options: str, name: str, network: str = "host") -> Iterator[None]:
    """Run a command of the image in the background; end it."""
    with subprocess.Popen([*in_linux(f"--name={name}", *options, network=network)], env=ENVIRONMENT) as process:
        try:
            yield
        finally:
            subprocess.run([*podman(), "stop", "--time=30", name], check=False, capture_output=True)
            process.wait(60)


def test_the_image_serves_without_privileges_and_only_with_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    image = built("eval", ".")
    monkeypatch.setitem(ENVIRONMENT, "GENCODE_SERVE_TOKEN", "secret")
    name = f"gencode-test-serve-{os.getpid()}"
    with container(*UNPRIVILEGED, HOME, "--env=GENCODE_SERVE_TOKEN", image, *SERVER, name=name):
        with httpx.Client(base_url="http://127.0.0.1:18473", timeout=60, trust_env=False) as client:
            wait_for(client)
            request = {"program": "import os; print(os.getuid() == 0, input())", "tests": [{"input": "x"}]}
            assert client.post("/v1/judge", json=request).status_code == 401
            client.headers["Authorization"] = "Bearer secret"
            answer = client.post("/v1/judge", json=request).json()
            assert answer["tests"][0]["stdout"] == "False x\n"
            # What Docker's default seccomp profile leaves: no namespaces.
            isolation = client.get("/v1/info").json()["sandbox"]["isolation"]
            assert isolation[:3] == ["walls", "seccomp", "landlock"]


def asked(name: str, programs: dict[str, str]) -> dict[str, str]:
    """The verdicts, by languages, on programs that double their input, of the server in a container."""
    return json.loads(run(*podman(), "exec", name, "python3", "-c", DOUBLE, json.dumps(programs)))


def is_healthy(name: str) -> bool:
    return subprocess.run([*podman(), "healthcheck", "run", name], check=False, capture_output=True).returncode == 0


def wait_until_healthy(name: str) -> None:
    deadline = time.monotonic() + 120
    while not is_healthy(name):
        assert time.monotonic() < deadline, "the server doesn't start"
        time.sleep(0.5)


def test_the_small_image_serves_and_its_health_check_notices_when_nothing_answers() -> None:
    image, name = judge("python"), f"gencode-test-judge-{os.getpid()}"
    with container(*UNPRIVILEGED, HOME, image, *LOCAL_SERVER, name=name, network="none"):
        wait_until_healthy(name)
        assert asked(name, {"python3": "print(2 * int(input()))"}) == {"python3": "accepted"}
        run(*podman(), "kill", "--signal=STOP", name)
        assert not is_healthy(name)
        run(*podman(), "kill", "--signal=CONT", name)


@pytest.mark.slow
def test_the_large_image_has_the_compilers_of_all_languages() -> None:
    name = f"gencode-test-judge-all-{os.getpid()}"
    with container(*UNPRIVILEGED, *JAIL, HOME, judge("all"), *LOCAL_SERVER, name=name, network="none"):
        wait_until_healthy(name)
        assert asked(name, DOUBLING) == dict.fromkeys(DOUBLING, "accepted")


def wait_for(client: httpx.Client) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError("the server doesn't start")


def test_the_image_serves_in_gvisor() -> None:
    given = ("-o", "code_tester.tester_type=gvisor")
    options = (*AS_ITS_ROOT, HOME, "--entrypoint=python3", built("eval", "."), "-c", ASK, *given)
    verdicts, sandbox, status = json.loads(run(*in_gvisor(), *options))
    assert verdicts == ["accepted", "wrong_answer"]
    assert (sandbox["backend"], status) == ("gvisor", 0)


def refusal(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_server_does_not_start_where_programs_cannot_be_isolated(tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(json.dumps(NO_JAIL))
    options = (*UNPRIVILEGED, HOME, f"--security-opt=seccomp={tmp_path}/profile.json", built("eval", "."), "serve")
    assert "--security-opt seccomp=unconfined" in refusal(*in_linux(*options))


def test_a_server_in_gvisor_without_rights_does_not_start_and_names_the_options() -> None:
    said = refusal(*in_gvisor(), HOME, built("eval", "."), "serve")
    assert "-o code_tester.tester_type=gvisor" in said and "--user=0 --cap-add=SYS_ADMIN" in said


def test_a_strict_server_does_not_start_where_isolation_is_weaker() -> None:
    options = (*UNPRIVILEGED, HOME, built("eval", "."), "serve", "-o", "code_tester.sandbox=strict")
    assert "--security-opt seccomp=unconfined" in refusal(*in_linux(*options))
