# expect: CE or MLE, RE, TLE, finishes; long literals, folded into longer ones
# made by: "import os\nos.write(1, b'ran\\n')\nx = " + " + ".join(["'" + "a" * 4000 + "' * 4000"] * 200) + "\ny = (0,) * 200\nz = 1 << 10**6 << 10**6\n"
