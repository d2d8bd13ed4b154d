"""Programming languages: what is wired to one of them, and knows no sandbox."""
