# expect: CE or RE; a chain that the parser builds iteratively and the compiler visits recursively
# made by: "x = a" + ".a" * 200_000 + "\n"
