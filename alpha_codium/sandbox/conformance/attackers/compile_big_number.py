# expect: CE or finishes; a decimal number of a million digits, which older interpreters convert in quadratic time
# made by: "import os\nos.write(1, b'ran\\n')\nx = " + "9" * 1_000_000 + "\n"
