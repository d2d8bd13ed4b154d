"""Scripts that run in a repository's sandbox, with its CPython 3.9 or later; they import nothing of gencode's."""
