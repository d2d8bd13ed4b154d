"""Samples from other tools, in the published formats.

1. `reading`: the rows of a file, and the column that contains programs.
2. `runs`: the choice of one of several runs in a file.
3. `names`: the problems that the ids in a file (`MBPP/11`, `11`, `mbpp_11_remove_Occ`) refer to.
4. `programs`: the conversion to rows of a Solutions dataset, with whole programs.
5. `setup`: the part of the prompt's code that programs may use.
"""
