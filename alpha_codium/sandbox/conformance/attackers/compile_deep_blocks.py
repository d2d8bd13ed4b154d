# expect: CE or RE, finishes; long chains of elif and of sums, which are nested in the tree
# made by: "import os\nos.write(1, b'ran\\n')\nx = 0\nif x: pass\n" + "elif x: pass\n" * 20_000 + "y = " + "x + " * 50_000 + "x\n"
