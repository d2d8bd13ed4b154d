# For Python 2 and 3.
import socket
import sys

sys.setrecursionlimit(10**6)


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def can(run):
    try:
        run()
    except EnvironmentError:
        return False
    return True


def can_read(path):
    return can(lambda: open(path).close())


def can_write(path):
    return can(lambda: open(path, "w").close())


words = sys.stdin.read().split()
mode = words.pop(0)
if mode == "add":
    print(sum(map(int, words)))
if mode == "exit":
    print("leaving")
    sys.exit(3)
if mode == "fail":
    raise ValueError("failed")
if mode == "loop":
    while True:
        pass
if mode == "hoard":
    every = []
    while True:
        every.append(bytearray(b"x") * (1 << 20))
if mode == "flood":
    while True:
        print("all work and no play makes a program dull")
if mode == "deep":
    print(deep(100000))
if mode == "connect":
    print("connected" if can(lambda: socket.create_connection(("127.0.0.1", 80))) else "refused")
if mode == "read":
    print("read" if can_read(words[0]) else "refused")
if mode == "write":
    print("written" if can_write("/program/x") or can_write("/etc/x") else "refused")
if mode == "leave":
    print("left" if can_write("left") and can_write("/tmp/left") else "refused")
if mode == "look":
    print("found" if can_read("left") or can_read("/tmp/left") else "nothing")
