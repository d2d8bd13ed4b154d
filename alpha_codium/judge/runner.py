"""How a program of a problem runs on one test's input: under which limits, after which code, by streams or by files."""

from collections.abc import Sequence
from dataclasses import dataclass

from alpha_codium.judge.drivers import driver
from alpha_codium.judge.packing import pack
from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import StopTest
from alpha_codium.verdict import Execution, Report


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs programs that read and print.

    `setup_code` stands before each program; `input_file` and `output_file`, where given, are the files in its folder
    that it uses in place of stdin and stdout.
    """

    sandbox: Sandbox
    limits: Limits
    setup_code: str = ""
    input_file: str = ""
    output_file: str = ""

    async def run(self, program: str, inputs: Sequence[str], stop: StopTest | None = None) -> Report:
        """Run `program` on each input until `stop` says so; its output is on stdout. See `Sandbox.run`."""
        whole = f"{self.setup_code}\n{program}" if self.setup_code else program
        if not (self.input_file or self.output_file):
            return await self.sandbox.run(whole, inputs, limits=self.limits, stop=stop)
        packed = [pack([self.input_file, self.output_file, text]) for text in inputs]
        return await self.sandbox.run(whole, packed, limits=self.limits, stop=stop, driver=driver("filing"))

    async def execute(self, program: str, input: str) -> Execution:
        """One run on one input; the compilation, where that failed."""
        report = await self.run(program, [input])
        return report.executions[0] if report.executions else report.compilation
