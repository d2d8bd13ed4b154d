"""A web page to try the metrics on: `python -m alpha_codium.metrics.demo`, which needs `alpha_codium[demo]`."""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from alpha_codium.errors import UserError

if TYPE_CHECKING:
    import gradio

METRICS = ("code_eval", "restrictedpython_code_eval")
SEPARATOR = "# ---"
PROGRAMS = f"""def add(a, b):
    return a + b
{SEPARATOR}
def add(a, b):
    return a * b
"""
TESTS = "assert add(2, 3) == 5"
TITLE = "pass@k of programs that are judged in a sandbox"
HELP = f"Separate programs by lines of `{SEPARATOR}`. They are candidates for one task, which the test code defines."


def results(metric: str, programs: str, tests: str) -> tuple[dict[str, Any], list[list[Any]]]:
    """Return the scores of candidates for one task, and a row for each: its number, whether it passed, and why not."""
    candidates = [each.strip("\n") for each in f"\n{programs}\n".split(f"\n{SEPARATOR}\n")]
    module = import_module(f"alpha_codium.metrics.{metric}")
    scores, of_tasks = module.compute([candidates], [tests], k=range(1, len(candidates) + 1))
    return dict(scores), [[number, result["passed"], result["result"]] for number, result in of_tasks[0]]


def page() -> "gradio.Blocks":
    """Return the page; raises UserError if gradio isn't installed."""
    try:
        import gradio
    except ImportError as error:
        raise UserError("the demo page needs gradio: pip install -e '.[demo]'") from error

    def shown(*values: str) -> tuple[dict[str, Any], list[list[Any]]]:
        try:
            return results(*values)
        except UserError as error:
            raise gradio.Error(str(error), print_exception=False) from error

    with gradio.Blocks(title=TITLE, analytics_enabled=False) as blocks:
        gradio.Markdown(f"# {TITLE}\n\n{HELP}")
        metric = gradio.Dropdown(list(METRICS), value=METRICS[0], label="Metric")
        with gradio.Row():
            programs = gradio.Code(PROGRAMS, language="python", label="Programs")
            tests = gradio.Code(TESTS, language="python", label="Test code")
        scores = gradio.JSON(label="Scores")
        table = gradio.Dataframe(headers=["program", "passed", "result"], label="Results")
        gradio.Button("Evaluate", variant="primary").click(
            shown, [metric, programs, tests], [scores, table], api_name="evaluate"
        )
    return blocks


def main() -> None:
    """Serve the page on this machine only; GRADIO_SERVER_PORT chooses a port."""
    # Whoever starts the page wants to run programs on it.
    os.environ.setdefault("HF_ALLOW_CODE_EVAL", "1")
    try:
        page().launch(server_name="127.0.0.1", share=False)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
