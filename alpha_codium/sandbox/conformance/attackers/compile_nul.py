# expect: CE; a NUL, and text that has no bytes
# made by: "print('ESCAPED')\n\0\nprint('\ud800')\n"
