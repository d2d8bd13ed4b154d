"""Comparing outputs by a checker: long ones in another process, and a checker that fails is named.

1. A long comparison would hold the interpreter's lock, and no time limit could end it. So outputs of more than
   `LONG` characters are compared in a process with limits of CPU time and memory. Others take milliseconds.
2. An output on which the checker fails, or that process reaches a limit, is wrong, unless the same happens on the
   expected output.
"""

import pickle
import resource
import subprocess
import sys
from dataclasses import dataclass

from alpha_codium.checkers import BUILT_IN, CALL_RESULT, Checker, make_checker
from alpha_codium.judge.call import call_result
from alpha_codium.judge.kinds import CheckerFailed
from alpha_codium.limits import CHECKER_LIMITS
from alpha_codium.problem import CheckerSpec

LONG = 1 << 20
TOO_LONG = "can't compare this output in time"
# The child gets our `sys.path`: a checker may be in a package that other processes don't find.
CHILD = "import pickle, sys; sys.path[:], *rest = pickle.load(sys.stdin.buffer)\n" + (
    "from alpha_codium.judge.comparing import compare_in_child; compare_in_child(*rest)"
)


@dataclass(frozen=True, slots=True)
class NamedChecker:
    """A checker that raises CheckerFailed in place of any other exception; `seconds` limit a long comparison."""

    spec: CheckerSpec
    checker: Checker
    seconds: float = CHECKER_LIMITS.cpu_seconds

    def __call__(self, input: str, expected: str, actual: str, /) -> bool:
        """See `Checker`; raises CheckerFailed."""
        is_long = len(expected) + len(actual) > LONG
        if is_long and expected == actual and self.spec.name in BUILT_IN:
            return True
        compare = self._apart if is_long else self._here
        accepted = compare(input, expected, actual)
        if isinstance(accepted, bool):
            return accepted
        broken = isinstance(compare(input, expected, expected), str)
        raise CheckerFailed(f"the checker {self.spec.name!r} {accepted}", broken=broken)

    def _here(self, input: str, expected: str, actual: str) -> bool | str:
        """Return what the checker says; why it failed, as text."""
        try:
            return bool(self.checker(input, expected, actual))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is reported
            return f"raised {type(error).__name__}: {str(error)[:300]}"

    def _apart(self, input: str, expected: str, actual: str) -> bool | str:
        """Compare in another process; see `_here`."""
        texts = pickle.dumps((sys.path, self.spec, input, expected, actual, self.seconds))
        command = [sys.executable, "-P", "-c", CHILD]
        try:
            done = subprocess.run(command, input=texts, capture_output=True, check=False, timeout=3 * self.seconds + 2)
        except subprocess.TimeoutExpired:
            return TOO_LONG
        if done.returncode == 0:
            return pickle.loads(done.stdout)  # noqa: S301 - our own
        return f"raised {done.stderr.decode(errors='replace')[-300:]}" if done.returncode == 1 else TOO_LONG


def named_checker(spec: CheckerSpec) -> NamedChecker:
    """Return the checker for `spec`; raises UserError as `make_checker` does."""
    return NamedChecker(spec, make_checker(spec, {CALL_RESULT: call_result}))


def compare_in_child(spec: CheckerSpec, input: str, expected: str, actual: str, seconds: float) -> None:
    """Compare under limits; write the result to stdout, or the exception to stderr, with exit status 1."""
    limit = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (CHECKER_LIMITS.memory_bytes, CHECKER_LIMITS.memory_bytes))
    try:
        result = bool(named_checker(spec).checker(input, expected, actual))
    except MemoryError:
        sys.exit(2)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is reported
        sys.stderr.write(f"{type(error).__name__}: {error}")
        sys.exit(1)
    sys.stdout.buffer.write(pickle.dumps(result))
