"""Audits of graders: the kit's cases, asked of any grader in a process of its own."""
