# expect: blocked: no expected output, and no input of another test, in all that this process was forked with
import ctypes
import os
import re
import sys

print("ran", flush=True)
mine = os.read(0, 1000).decode().strip()
pattern = re.compile(rb"(?:HOSTILE_INPUT|EXPECTED_OUTPUT)_[0-9a-f]{16}")
try:
    regions = [line.split() for line in open("/proc/self/maps")]
except OSError:
    regions = []
    print("no maps")
found = set()
for region in regions:
    start, end = (int(text, 16) for text in region[0].split("-"))
    if "r" not in region[1] or region[-1].startswith("[v") or end - start > 1 << 26:
        continue
    found |= set(pattern.findall(ctypes.string_at(start, end - start)))
found = {text.decode() for text in found} - {mine}
print("ESCAPED: " + " ".join(sorted(found)) if found else f"blocked {len(regions)} regions", sys.argv)
