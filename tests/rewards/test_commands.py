import pytest

from alpha_codium.rewards.commands import PythonFiles, exit_code_of
from alpha_codium.verdict import Execution, Status


@pytest.mark.parametrize(
    ("command", "program"),
    [
        (["python", "a.py"], ("print(1)", "text")),
        (["python3", "./a.py"], ("print(1)", "text")),
        (["python", "-c", "print(2)"], ("print(2)", "text")),
        (["python", "-"], ("text", "")),
        (["bash", "-lc", "python3 -c 'print(3)'"], ("print(3)", "text")),
        (["python", "b.py"], (None, "text")),
        (["python", "a.py", "more"], (None, "text")),
        (["ls"], (None, "text")),
    ],
)
def test_a_command_names_a_program_and_its_input(command, program):
    files = PythonFiles()
    files.write("a.py", b"print(1)")
    assert files.program(command, "text") == program


def test_a_file_that_was_not_written_is_not_found():
    with pytest.raises(FileNotFoundError):
        PythonFiles().read("a.py")


@pytest.mark.parametrize(
    ("execution", "code"),
    [
        (Execution(Status.FINISHED, exit_code=0), 0),
        (Execution(Status.RUNTIME_ERROR, exit_code=3), 3),
        (Execution(Status.TIME_LIMIT_EXCEEDED, signal=9), 137),
        (Execution(Status.MEMORY_LIMIT_EXCEEDED, exit_code=0), 1),
    ],
)
def test_an_exit_code_is_that_of_a_shell_and_never_0_for_a_failure(execution, code):
    assert exit_code_of(execution) == code
