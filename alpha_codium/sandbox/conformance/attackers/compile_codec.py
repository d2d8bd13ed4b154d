# expect: CE; names of encodings that aren't text encodings, or are other modules
# made by: "# -*- coding: " + "__init__" + " -*-\nprint('ESCAPED')\n"
