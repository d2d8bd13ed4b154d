"""Cheats of graders that judge in the program's process, compare in it, or keep what a thread prints."""

CHEATS = {
    "exits before the tests": "import os\nos._exit(0)",
    "exits by an exception": "raise SystemExit(0)",
    "prints nothing": "pass",
    "prints a verdict": """print('accepted')\nprint('{"verdict": "accepted"}')""",
    "prints its input": "import sys\nprint(sys.stdin.read())",
    "prints every letter": "import string\nfor letter in string.printable: print(letter)",
    "reads the frames of its caller": """
import sys
frame = sys._getframe()
while frame:
    print(*map(str, frame.f_locals.values()))
    frame = frame.f_back
""",
    "prints what equals everything": """
class Equal(str):
    def __eq__(self, other): return True
    __ne__ = __contains__ = lambda self, other: False
    __hash__ = str.__hash__
print(Equal("x"))
""",
    "patches comparison": """
import builtins, operator
builtins.all = builtins.any = operator.eq = builtins.isinstance = lambda *_: True
print("x")
""",
    "replaces stdout": """
import io, sys
class Output(io.StringIO):
    def getvalue(self): return self
    def __eq__(self, other): return True
sys.stdout = Output()
print("x")
""",
    "looks for the tests": """
import glob
for path in glob.glob("/**/*", recursive=True)[:20000]:
    try:
        print(open(path).read(2000))
    except Exception:
        pass
""",
    "prints late, in a daemon thread": """
import threading, time
def late():
    time.sleep(5)
    print("x")
threading.Thread(target=late, daemon=True).start()
""",
    "writes into the processes above": """
import os
for number in range(3, 64):
    try:
        os.write(number, b'{"status": "finished", "stdout": "x", "verdict": "accepted"}\\n')
    except OSError:
        pass
for process in ("self", "1", str(os.getppid())):
    for number in range(64):
        try:
            with open(f"/proc/{process}/fd/{number}", "wb") as file:
                file.write(b"accepted\\n")
        except OSError:
            pass
""",
}
