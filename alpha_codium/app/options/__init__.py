"""The options of the use cases: what each of their arguments is, in Python and on the command line.

They are apart from the use cases, which take long to import, so that the command line shows its help at once.
"""
