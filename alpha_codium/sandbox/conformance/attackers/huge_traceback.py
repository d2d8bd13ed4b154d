# expect: RE/OLE/TLE/MLE; a chain of long exceptions on stderr
print("ran", flush=True)


def deeper(depth):
    try:
        if depth:
            deeper(depth - 1)
        raise ValueError("v" * 100_000)
    except ValueError as error:
        raise KeyError("k" * 100_000) from error


deeper(300)
