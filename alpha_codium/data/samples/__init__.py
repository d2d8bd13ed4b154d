"""Samples that were made elsewhere, in the formats they are published in: read, matched with problems, made programs.

1. `reading`: a file's rows, whatever its format, and which column holds programs.
2. `runs`: a file may hold several runs; they are told apart and never mixed.
3. `names`: the ids that files use (`MBPP/11`, `11`, `mbpp_11_remove_Occ`) are problems' names.
4. `programs`: completions go on from the prompt; rows become those of a Solutions dataset.
5. `setup`: what of the prompt's own code such programs may count on.
"""
