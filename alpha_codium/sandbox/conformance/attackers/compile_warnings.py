# expect: CE or TLE, RE, OLE, finishes; a warning for each of its lines
# made by: "import os\nos.write(1, b'ran\\n')\n" + "'\\d' is 1\n" * 2_000
