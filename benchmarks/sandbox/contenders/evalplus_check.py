"""evalplus: `untrusted_check`, with one test a call, or with all tests of a candidate in one process."""

FORM = "functions"
_options = {}


def start(options: "dict[str, str]") -> None:
    """Keep the options: `together` puts a candidate's tests into one process."""
    _options.update(options)


def run(functions: "list[str]", inputs: "list[str]", outputs: "list[str]") -> int:
    """Run each function on each input."""
    from evalplus.eval import untrusted_check  # pyrefly: ignore - in the peer's environment only

    arguments = [[text] for text in inputs]
    expected = [output.rstrip("\n") for output in outputs]
    step = len(inputs) if _options.get("together") else 1
    right = 0
    for function in functions:
        for first in range(0, len(inputs), step):
            some, wanted = arguments[first : first + step], expected[first : first + step]
            _, details = untrusted_check("humaneval", function, some, "solve", wanted, 0, [0.0] * len(some))
            right += int(sum(map(bool, details)))
    return right
