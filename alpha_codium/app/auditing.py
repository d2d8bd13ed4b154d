"""Audits of graders: other programs that judge programs, asked about the kit's cases."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from alpha_codium.app.events import ProgressCounter, working
from alpha_codium.app.options.auditing import AuditOptions
from alpha_codium.audit.graders.asking import cases_to_ask
from alpha_codium.audit.graders.auditing import ASKING, run_audit
from alpha_codium.audit.graders.finding import find_grader
from alpha_codium.audit.graders.report import Audit, known_names
from alpha_codium.coroutines import blocking
from alpha_codium.options import use_case
from alpha_codium.report.audit_page import write_audit_page
from alpha_codium.report.page import check_output


@use_case(AuditOptions)
async def audit_grader_async(options: AuditOptions) -> Audit:
    """Ask a grader about programs whose right verdicts are known, and return what it gets wrong.

    Raises UserError if there is no such grader or section, if the grader can't be loaded, or the page can't be written.
    """
    if options.output is not None:
        check_output(options.output.absolute())
    known = known_names(options.known) if options.known is not None else None
    cases = cases_to_ask(options.section)
    grader = find_grader(options.grader, options.python or sys.executable, options.form, options.dialect)
    grader = replace(grader, isolates=options.own_isolation)
    with ExitStack() as stack:
        on_done: list[Callable[[bool], None]] = []

        def plan(what: str, total: int) -> None:
            stack.close()
            wrong = ProgressCounter(lambda right: not right, "{} to be asked again") if what == ASKING else None
            on_done[:] = [stack.enter_context(working(options.on_event, what, total, wrong))]

        audit = await run_audit(
            grader,
            cases,
            parallel=options.parallel,
            deadline=options.deadline,
            on_planned=plan,
            on_answer=lambda right: on_done[0](right),  # noqa: PLW0108 - `plan` replaces it
        )
    audit = audit if known is None else audit.with_known(known)
    if options.output is not None:
        write_audit_page(audit, options.output.absolute())
    return audit


audit_grader = blocking(audit_grader_async)
