"""Adapters: small modules that ask a grader, which the user has installed, about one program.

Each has one or more of these functions, and needs nothing of our package:

    grade(program: str, inputs: list[str], outputs: list[str]) -> bool
    grade_call(program: str, function: str, arguments: list[list], results: list) -> bool
    grade_assertions(program: str, tests: list[str], function: str) -> bool

Programs that are called with a URL, a command or a metric find it in the variable `GENCODE_AUDIT_TARGET`.
"""
