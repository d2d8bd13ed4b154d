# expect: TLE/RE or finishes; more files than there is room for; the next test finds room again
import os

print("ran", flush=True)
open("first", "w").write("x" * 10_000)
made = 0
try:
    while made < 100_000:
        os.link("first", f"l{made}") if made % 2 else os.symlink("x" * 100, f"s{made}")
        made += 1
    print("ESCAPED: 100000 names")
except OSError as error:
    print("stopped at", made, error)
