"""Which tests call which methods, over all labels of a repository, and the tests that say most about a method.

1. The tests of each label run once, and the functions that each calls are noted. That is kept beside the repository's
   files, since it takes minutes.
2. A test is relevant for a method that it calls if it calls few other functions, and has words of the method's name in
   its own. A label is relevant if its most relevant tests are, and if its tests call many functions of the method's
   file. The most relevant label is the method's component. Up to two more are added if they are nearly as relevant, or
   there are few tests.
3. Its tests are those of these labels that call it, the most relevant first, and of each other label one for three of
   its component. A test of a name that was chosen before comes after the others, since it is most often inherited.
"""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.harness import PASSED, RepositoryTests, Trace, TracedTest, warm_up
from alpha_codium.repository.methods import Method, methods_of
from alpha_codium.runs.folder import write_atomically

MOST_TESTS = 100
# Of all tests of a task, as they took while calls were noted. They are run about 30 times until the task is certified.
MOST_SECONDS = 1.5
MOST_LABELS = 3
# What a label must have of the relevance of the component to be another label of a task.
LEAST_RELEVANCE = 0.3
# With fewer tests, a task gets another label, however relevant.
FEW_TESTS = 10
# Tests of its component for each test of another label.
OWN_TESTS = 3
# A body of fewer lines leaves nothing to complete.
FEWEST_LINES = 3
# Tests by which labels are compared.
COMPARED = 10
SHORTEST_WORD = 4
# A function: its file and the line, from 1, of its first decorator or `def`.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class CoveredMethod:
    """A method that may become a task, its file, the labels of its tests, its component first, and these tests.

    With `loading`, it is called while the repository is imported.
    """

    file: str
    source: str
    method: Method
    labels: tuple[str, ...]
    tests: tuple[str, ...]
    loading: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """The method's file and name."""
        return self.file, self.method.qualified_name


async def calls_of(checkout: Checkout, label: str) -> Trace:
    """Return the tests of a label, with the functions in the repository's sources that each calls.

    Raises SandboxError if they can't be run.
    """
    kept = "\0".join((warm_up(checkout, label), str(checkout.interpreter)))
    path = checkout.folder.parent / "calls" / f"{hashlib.sha256(kept.encode()).hexdigest()[:16]}.json"
    if path.exists():
        return Trace.from_json(json.loads(path.read_text("utf-8")))
    async with RepositoryTests(checkout, label) as tests:
        calls = await tests.calls()
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, json.dumps(calls))
    return Trace.from_json(calls)


def covered_methods(checkout: Checkout, traces: Mapping[str, Trace], seed: int = 0) -> list[CoveredMethod]:
    """Return the documented methods that tests call, in a random order."""
    callers = _callers(traces)
    loading = {place for trace in traces.values() for place in trace.loading}
    found = []
    for path in sorted({path for path, _ in callers}.intersection(checkout.files())):
        source, depths = checkout.source(path), _depths(path, callers)
        for method in documented(source):
            place = (path, method.lines[0] - method.decorators + 1)
            tests = chosen_tests(callers.get(place, {}), depths, words_of(method))
            if tests:
                labels = tuple(dict.fromkeys(label for label, _ in tests))
                names = tuple(test.name for _, test in tests)
                found.append(CoveredMethod(path, source, method, labels, names, place in loading))
    # The order of two methods doesn't depend on which others there are: tests near the limit of time come and go.
    return sorted(found, key=lambda covered: random.Random(f"{seed} {covered.place}").random())


def documented(source: str) -> Iterator[Method]:
    """Yield the methods of a file that have a docstring and a body of some lines."""
    for method in methods_of(source):
        lines = [line for line in method.body.splitlines() if line.strip()]
        if method.docstring and len(lines) >= FEWEST_LINES:
            yield method


def _callers(traces: Mapping[str, Trace]) -> Mapping[Place, Mapping[str, Sequence[TracedTest]]]:
    """Return the tests of each label that pass and call each function."""
    callers: dict[Place, dict[str, list[TracedTest]]] = defaultdict(lambda: defaultdict(list))
    for label, trace in traces.items():
        for test in trace.tests:
            if test.status == PASSED:
                for place in test.functions:
                    callers[place][label].append(test)
    return callers


def _depths(path: str, callers: Mapping[Place, Mapping[str, Sequence[TracedTest]]]) -> Mapping[str, int]:
    """Return how many functions of a file the tests of each label call."""
    return Counter(label for place, labels in callers.items() if place[0] == path for label in labels)


def words_of(method: Method) -> frozenset[str]:
    """Return the words by which tests are recognized by their names: those of the method's, and its class's name."""
    words = (*method.name.lower().split("_"), method.class_name.rpartition(".")[2].lower())
    return frozenset(word for word in words if len(word) >= SHORTEST_WORD)


def chosen_tests(
    callers: Mapping[str, Sequence[TracedTest]], depths: Mapping[str, int], words: Collection[str] = ()
) -> Sequence[tuple[str, TracedTest]]:
    """Return the tests of a function, each with its label; the component's first.

    `callers` are all tests that call it, by their label, `depths` the numbers of functions of its file that each calls,
    and `words` those of its name.
    """
    relevance: dict[str, float] = {}
    ranked: dict[str, list[tuple[float, TracedTest]]] = {}
    for label, tests in callers.items():
        weighed = [(_weight(test, words), test) for test in tests]
        ranked[label] = sorted(weighed, key=lambda each: -each[0])
        relevance[label] = depths[label] * sum(weight for weight, _ in ranked[label][:COMPARED])
    labels: list[str] = []
    for label in sorted(callers, key=lambda label: (-relevance[label], label))[:MOST_LABELS]:
        few = sum(len(callers[each]) for each in labels) < FEW_TESTS
        labels += [label] if few or relevance[label] >= LEAST_RELEVANCE * relevance[labels[0]] else []
    steps = {label: OWN_TESTS if number else 1 for number, label in enumerate(labels)}
    mixed = [
        (number * steps[label], label, test) for label in labels for number, (_, test) in enumerate(ranked[label], 1)
    ]
    in_order = ((label, test) for _, label, test in sorted(mixed, key=lambda each: each[0]))
    chosen = list(_affordable(_twins_last(in_order)))
    return sorted(chosen, key=lambda each: labels.index(each[0]))


def _weight(test: TracedTest, words: Collection[str]) -> float:
    """Return how relevant a test is for a function with a name of these words."""
    name = test.name.lower()
    return (1 + sum(word in name for word in words)) ** 2 / len(test.functions)


def _twins_last(tests: Iterable[tuple[str, TracedTest]]) -> Iterator[tuple[str, TracedTest]]:
    """Yield a label's first test of each name, then the others: classes that are derived from one inherit its tests."""
    known, twins = set[tuple[str, str]](), []
    for label, test in tests:
        name = label, test.name.rpartition(".")[2]
        if name in known:
            twins.append((label, test))
        else:
            known.add(name)
            yield label, test
    yield from twins


def _affordable(tests: Iterable[tuple[str, TracedTest]]) -> Iterator[tuple[str, TracedTest]]:
    """Yield the first `MOST_TESTS` tests, without those that don't fit into `MOST_SECONDS`."""
    left, count = MOST_SECONDS, 0
    for label, test in tests:
        if test.seconds <= left and count < MOST_TESTS:
            left, count = left - test.seconds, count + 1
            yield label, test
