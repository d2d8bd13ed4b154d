# expect: CE; encodings that are no encodings of text, or modules of another kind
# made by: "# -*- coding: " + "__init__" + " -*-\nprint('ESCAPED')\n"
