"""Evaluation of a dataset's candidates: verdicts, and pass@k from them."""
