"""Reading answers of models: the program in a text, and structured answers."""
