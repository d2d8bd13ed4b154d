"""The command line `gencode`: one module a command group; it parses, calls and prints."""
