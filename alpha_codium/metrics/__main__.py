"""`python -m alpha_codium.metrics`: how to load each metric with `evaluate`."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Print PATH, which the docs write before `/alpha_codium/metrics`, and a call for each metric."""
    print(f"PATH is {FOLDER.parent.parent}")
    for path in sorted(FOLDER.glob("*/__init__.py")):
        print(f'evaluate.load("{path.parent}")')


if __name__ == "__main__":
    main()
