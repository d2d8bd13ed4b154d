# expect: CE; nested far deeper than any parser goes
# made by: "x = " + "(" * 100_000 + ")" * 100_000 + "\n"
