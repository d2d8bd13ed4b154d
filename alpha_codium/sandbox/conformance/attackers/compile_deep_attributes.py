# expect: CE or RE; a chain that the parser makes without recursion, and the compiler walks with it
# made by: "x = a" + ".a" * 200_000 + "\n"
