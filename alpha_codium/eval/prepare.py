"""The evaluation set: the programs to be judged and the tests of each problem.

Tasks are made lazily, one at a time: a split of 13,000 problems needn't fit into memory.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alpha_codium.data.schema import difficulty_name
from alpha_codium.data.subset import Subset, SubsetNote, part_of
from alpha_codium.errors import DatasetError, UserError, nearest
from alpha_codium.eval.languages import Languages, Skipped
from alpha_codium.language_table import LANGUAGES
from alpha_codium.problem import Problem, Solution, TestCase, TestType
from alpha_codium.program import PYTHON, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.solution import ErrorKind, SampleError
from alpha_codium.wording import counted

if TYPE_CHECKING:
    from datasets import Dataset

GENERATED, CORRECT, INCORRECT = "generated", "correct", "incorrect"


@dataclass(frozen=True, slots=True)
class Entry:
    """One program to be judged; `index` counts within its `group`, `error` says why there is no program.

    `truncated`: whether an answer for it was cut off, None if unknown. `error_known`: whether the dataset records
    errors.
    """

    index: int
    group: str
    program: str
    error: SampleError | None = None
    language: str = PYTHON
    truncated: bool | None = None
    error_known: bool = False

    def to_program(self) -> Program:
        """The program as it is run."""
        return Program.from_source(self.language, self.program)

    @property
    def is_lost(self) -> bool:
        """Whether the sample was lost through a fault of the provider or of gencode."""
        return self.error is not None and self.error.kind is not ErrorKind.MODEL

    @property
    def is_blank(self) -> bool:
        """Whether the program is empty."""
        return not self.program.strip()


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """One problem, the tests asked for, and the programs to be judged by them; `skipped` programs can't be run."""

    problem: Problem
    tests: tuple[TestCase, ...]
    entries: tuple[Entry, ...]
    skipped: Skipped = field(default_factory=Skipped)

    @property
    def name(self) -> str:
        """The problem's name."""
        return self.problem.name


class EvaluationSet:
    """Every problem of a split with its programs, including problems without any.

    If the problems are a part of a split, `subset` says of how many (`of`), and how they were chosen (`by`).
    `evaluation_set["predictions"]` and `["references"]` give the two columns that the `evaluate` interface
    takes: `{task_name, solution_candidates}` and `{tests_inputs, tests_outputs}`, one row a problem.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        entries: Mapping[str, tuple[Entry, ...]],
        test_types: Sequence[TestType],
        subset: SubsetNote | None = None,
    ) -> None:
        self.names = _distinct_names(problems)
        self.problems, self.entries, self.test_types, self.subset = problems, entries, tuple(test_types), subset

    def __len__(self) -> int:
        return len(self.problems)

    def __iter__(self) -> Iterator[EvaluationTask]:
        return map(self._task, self.problems)

    def __getitem__(self, column: str) -> list[dict[str, Any]]:
        return {"predictions": self.predictions, "references": self.references}[column]

    @property
    def predictions(self) -> list[dict[str, Any]]:
        """One row a problem: its name and its candidate programs."""
        return [{"task_name": t.name, "solution_candidates": [e.program for e in t.entries]} for t in self]

    @property
    def references(self) -> list[dict[str, Any]]:
        """One row a problem: the inputs of its tests and the outputs expected."""
        return [
            {"tests_inputs": [test.input for test in t.tests], "tests_outputs": [test.output for test in t.tests]}
            for t in self
        ]

    def to_dataset(self) -> "Dataset":
        """Return the two columns as a `datasets.Dataset`; raises UserError unless all tests are of stdin and stdout."""
        from datasets import Dataset, Features, Sequence, Value

        if other := next((t.name for t in self if t.problem.execution.is_function), None):
            raise UserError(f"the tests of {other!r} aren't inputs and outputs: they don't fit into the columns")
        texts = Sequence(Value("string"))
        features = Features(
            predictions={"task_name": Value("string"), "solution_candidates": texts},
            references={"tests_inputs": texts, "tests_outputs": texts},
        )
        return Dataset.from_dict({name: self[name] for name in features}, features=features)

    def save_to_disk(self, path: str | Path) -> None:
        """Write `to_dataset()` to a folder, which `datasets.load_from_disk` reads."""
        self.to_dataset().save_to_disk(str(path))

    def _task(self, problem: Problem) -> EvaluationTask:
        return EvaluationTask(problem, problem.tests(self.test_types), self.entries.get(problem.name, ()))


class HumanSolutions(EvaluationSet):
    """Every problem with the programs that humans submitted, except those that `languages` leave out."""

    def __init__(
        self,
        problems: Sequence[Problem],
        groups: Sequence[str],
        test_types: Sequence[TestType],
        subset: SubsetNote | None = None,
        languages: Languages | None = None,
    ) -> None:
        super().__init__(problems, {}, test_types, subset)
        self.groups, self.languages = groups, languages or Languages()

    def run_in(self, sandbox: Sandbox) -> "HumanSolutions":
        """Return the same, without the programs that a sandbox can't run; raises as `Languages`."""
        languages = Languages(self.languages.asked, sandbox, self.languages.other)
        return HumanSolutions(self.problems, self.groups, self.test_types, self.subset, languages)

    def _task(self, problem: Problem) -> EvaluationTask:
        by_group = {CORRECT: problem.solutions, INCORRECT: problem.incorrect_solutions}
        found = Counter(solution.language for group in self.groups for solution in by_group[group])
        reasons = {language: self.languages.why_not(language, problem) for language in found}
        skipped = Skipped({(language, why): found[language] for language, why in reasons.items() if why})
        judged = [language for language, why in reasons.items() if not why]
        entries = [entry for group in self.groups for entry in entries_of_solutions(group, by_group[group], judged)]
        return EvaluationTask(problem, problem.tests(self.test_types), tuple(entries), skipped)


def parse_test_types(names: str | TestType | Iterable[str]) -> tuple[TestType, ...]:
    """The types of tests in `names`: one name, several (a list, or with commas), or `all`; raises UserError."""
    texts = names.split(",") if isinstance(names, str) else [part for name in names for part in name.split(",")]
    asked = [text.strip().replace("-", "_") for text in texts if text.strip()]
    if "all" in asked:
        return tuple(TestType)
    known = [kind.value for kind in TestType]
    for name in asked:
        if name not in known:
            raise UserError(f"unknown type of tests {name!r}{nearest(name, [*known, 'all'])}")
    if not asked:
        raise UserError("no type of tests is given: use public_tests, private_tests, generated_tests or all")
    return tuple(kind for kind in TestType if kind in asked)


def prepare_for_evaluation(
    solutions: Iterable[Mapping[str, Any]],
    problems: Sequence[Problem],
    test_type: str | Iterable[str] = TestType.PRIVATE,
) -> EvaluationSet:
    """Return the candidates of a Solutions dataset with the tests of all problems of the split.

    `solutions` has rows `{task_name, solution_candidates, sample_errors?, language?, truncated_answers?}`. Raises
    DatasetError if a row doesn't name a problem of the split, a name occurs twice in either, or a candidate is in a
    language that can't be run.
    """
    names = _distinct_names(problems)
    entries: dict[str, tuple[Entry, ...]] = {}
    for row in solutions:
        name = _row_name(row)
        if name not in names:
            raise DatasetError(f"the solutions' problem {name!r} is not in the split judged{nearest(name, names)}")
        if name in entries:
            raise DatasetError(f"the solutions contain the problem {name!r} twice")
        entries[name] = _entries_of(row)
    return EvaluationSet(problems, entries, parse_test_types(test_type))


def only_asked(
    tasks: EvaluationSet,
    made_for: Collection[Subset],
    chosen: Subset,
    only_present: bool = False,
    difficulties: Sequence[str] = (),
) -> EvaluationSet:
    """Return the tasks of the problems that candidates were asked for, or of those `chosen` among them.

    `made_for` are the parts of the split for which the candidates were made, if they record any. With `only_present`,
    problems without candidates are left out; with `difficulties`, all others, by their names. Raises DatasetError if no
    problem is left, or has such a difficulty.
    """
    names: Sequence[str] = getattr(tasks.problems, "names", None) or [problem.name for problem in tasks.problems]
    chosen = chosen.with_full_names(names)
    places: Collection[int] = range(len(names))
    if made_for and not any(part.is_whole for part in made_for):
        places = sorted({place for part in made_for for place in part.positions(names)})
    if only_present:
        places = [place for place in places if tasks.entries.get(names[place])]
    if difficulties:
        places = places_of_difficulty(tasks.problems, places, difficulties)
    kept = list(places)
    kept = [kept[place] for place in chosen.positions([names[place] for place in kept])]
    if len(kept) == len(names):
        return tasks
    ways = [*(str(part) for part in made_for if len(places) < len(names) and not part.is_whole)]
    ways += [f"difficulty {each}" for each in difficulties]
    ways += ["only_present"] * only_present + ([] if chosen.is_whole else [str(chosen)])
    select = getattr(tasks.problems, "select", None)
    problems = select(kept) if select else [tasks.problems[place] for place in kept]
    return EvaluationSet(problems, tasks.entries, tasks.test_types, part_of(len(names), *ways))


def places_of_difficulty(problems: Sequence[Problem], places: Iterable[int], difficulties: Sequence[str]) -> list[int]:
    """Return those of `places` whose problems have one of the difficulties; raises DatasetError if none has."""
    found = {place: difficulty_name(problems[place].difficulty) for place in places}
    for name in difficulties:
        if name not in found.values():
            known = ", ".join(sorted(set(found.values())))
            raise DatasetError(f"no problem has the difficulty {name!r}; there are: {known}")
    return [place for place, name in found.items() if name in difficulties]


def human_solutions(
    problems: Sequence[Problem],
    groups: str,
    test_type: str | Iterable[str],
    subset: SubsetNote | None = None,
    languages: Languages | None = None,
) -> HumanSolutions:
    """The human solutions of all problems; `groups` is `correct`, `incorrect` or `both`."""
    chosen = (CORRECT, INCORRECT) if groups == "both" else (groups,)
    return HumanSolutions(problems, chosen, parse_test_types(test_type), subset, languages)


def entries_of_solutions(group: str, solutions: Iterable[Solution], languages: Collection[str]) -> list[Entry]:
    """The solutions in these languages, numbered among themselves."""
    chosen = (solution for solution in solutions if solution.language in languages)
    return [Entry(index, group, s.code, language=s.language) for index, s in enumerate(chosen)]


def refuse_language(language: str, where: str) -> None:
    """Raise DatasetError if programs in `language`, such as the one described by `where`, can't be run."""
    if language not in LANGUAGES:
        raise DatasetError(f"{where} is in {language!r}, a language that can't be run{nearest(language, LANGUAGES)}")


def _distinct_names(problems: Sequence[Problem]) -> frozenset[str]:
    """Return the problems' names; raises DatasetError for a duplicate, whose candidates would be ambiguous."""
    names = getattr(problems, "names", None) or [_problem_name(problem) for problem in problems]
    twin = next((name for name, count in Counter(names).items() if count > 1), None)
    if twin is not None:
        raise DatasetError(f"two problems of the split are called {twin!r}: names must be unique")
    return frozenset(names)


def _problem_name(problem: Problem) -> str:
    if not isinstance(problem, Problem):
        raise DatasetError(f"problems must be instances of Problem, not {type(problem).__name__}: use load_problems")
    return problem.name


def _row_name(row: Mapping[str, Any]) -> str:
    if not isinstance(row, Mapping):
        raise DatasetError(f"a row of a Solutions dataset must be a dict, not {row!r:.80}")
    missing = [column for column in ("task_name", "solution_candidates") if column not in row]
    if missing:
        raise DatasetError(f"not a Solutions dataset: it has no column {missing[0]!r} (it has: {', '.join(row)})")
    if not isinstance(row["task_name"], str):
        raise DatasetError(f"task_name must be a string, not {row['task_name']!r:.80}")
    return row["task_name"]


def _entries_of(row: Mapping[str, Any]) -> tuple[Entry, ...]:
    programs = [] if row["solution_candidates"] is None else row["solution_candidates"]
    if not isinstance(programs, list | tuple) or not all(isinstance(each, str | None) for each in programs):
        raise DatasetError(f"{row['task_name']!r}: solution_candidates must be a list of strings")
    languages = [language or PYTHON for language in _beside(programs, row, "language")]
    for index, language in enumerate(languages):
        refuse_language(language, f"{row['task_name']!r}, candidate {index}")
    columns = (_beside(programs, row, "sample_errors"), languages, _beside(programs, row, "truncated_answers"))
    errors_known, truncated_known = (row.get(name) is not None for name in ("sample_errors", "truncated_answers"))
    return tuple(
        Entry(
            index,
            GENERATED,
            program or "",
            SampleError.parse(error or ""),
            language,
            bool(truncated) if truncated_known else None,
            errors_known,
        )
        for index, (program, error, language, truncated) in enumerate(zip(programs, *columns, strict=True))
    )


def _beside(programs: Sequence[str], row: Mapping[str, Any], column: str) -> Sequence[Any]:
    """The values of a column for each program; None for each if the row lacks it."""
    values = row.get(column) or [None] * len(programs)
    if len(values) != len(programs):
        raise DatasetError(f"{row['task_name']!r} has {counted(len(programs), 'candidate')} and {len(values)} {column}")
    return values
