"""Samples made elsewhere, in the published formats.

1. `reading`: the rows of a file, and the column that holds programs.
2. `runs`: one of several runs in a file.
3. `names`: matching ids of a file (`MBPP/11`, `11`, `mbpp_11_remove_Occ`) with problems.
4. `programs`: rows of a Solutions dataset, with whole programs.
5. `setup`: the part of the prompt's own code that programs may use.
"""
