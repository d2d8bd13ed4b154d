# expect: TLE/RE or finishes; exit statuses that aren't numbers, or pretend to be
import sys

print("ran", flush=True)


class Liar(int):
    def __int__(self):
        sys.exit(0)

    __index__ = __and__ = __rand__ = __eq__ = __int__
    __hash__ = None

    def __str__(self):
        sys.exit(0)


class Exit(SystemExit):
    code = property(lambda self: Liar(7))


raise Exit(2**100)
