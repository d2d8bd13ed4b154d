"""`python -m alpha_codium`: the same as `gencode`."""

from alpha_codium.cli.main import main

if __name__ == "__main__":
    main()
