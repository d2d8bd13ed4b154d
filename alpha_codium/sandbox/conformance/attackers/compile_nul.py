# expect: CE; a NUL, and text that can't be encoded
# made by: "print('ESCAPED')\n\0\nprint('\ud800')\n"
