"""Interactors for tests, written here: they think of a number that the program has to guess."""

from alpha_codium.problem import CheckerSpec, Problem, TestCase

# The input holds the number, the answer how many guesses are allowed; the program sees neither.
ICPC = """
import sys
number, most = int(open(sys.argv[1]).read()), int(open(sys.argv[2]).read())
open(sys.argv[3] + "judgemessage.txt", "w").write(f"thinking of {number}")
for _ in range(most):
    guess = int(input())
    if guess == number:
        print("right", flush=True)
        sys.exit(43 if sys.stdin.read().strip() else 42)
    print("higher" if guess < number else "lower", flush=True)
print(f"more than {most} guesses", file=sys.stderr)
sys.exit(43)
"""
# The same in C++, with the arguments and exit statuses of testlib.
TESTLIB_CPP = """
#include <fstream>
#include <iostream>
int main(int argc, char **argv) {
    std::ifstream input(argv[1]), answer(argv[3]);
    std::ofstream output(argv[2]);
    int number, most, guess;
    if (argc != 4 || !output || !(input >> number) || !(answer >> most)) return 3;
    while (most--) {
        if (!(std::cin >> guess)) { std::cerr << "unexpected end\\n"; return 8; }
        output << guess << std::endl;
        if (guess == number) { std::cout << "right" << std::endl; return 0; }
        std::cout << (guess < number ? "higher" : "lower") << std::endl;
    }
    std::cerr << "wrong answer too many guesses\\n";
    return 1;
}
"""
GUESSES = """
low, high = 1, 1000
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    said = input()
    if said == "right":
        break
    low, high = (middle + 1, high) if said == "higher" else (low, middle - 1)
"""
GUESSES_CPP = """
#include <iostream>
int main() {
    int low = 1, high = 1000;
    for (std::string said; said != "right";) {
        int middle = (low + high) / 2;
        std::cout << middle << std::endl;
        if (!(std::cin >> said)) return 1;
        (said == "higher" ? low : high) = said == "higher" ? middle + 1 : middle - 1;
    }
}
"""
GUESSES_JAVA = """
import java.util.Scanner;
public class Main {
    public static void main(String[] arguments) {
        Scanner in = new Scanner(System.in);
        for (int low = 1, high = 1000;;) {
            int middle = (low + high) / 2;
            System.out.println(middle);
            String said = in.next();
            if (said.equals("right")) return;
            if (said.equals("higher")) low = middle + 1; else high = middle - 1;
        }
    }
}
"""
TESTS = tuple(TestCase(f"{number}\n", "10\n") for number in (500, 1, 1000, 77))


def interactive(interactor: str, *, protocol: str = "icpc", path: str = "interactor.py", **given: object) -> Problem:
    """A problem with an interactor of one file."""
    checker = CheckerSpec("interactor", {"protocol": protocol, "files": {path: interactor}})
    return Problem("guess", checker=checker, **{"time_limit_seconds": 0.4, **given})  # type: ignore[arg-type]


IN_PYTHON = interactive(ICPC)
IN_CPP = interactive(TESTLIB_CPP, protocol="testlib", path="interactor.cpp")
