# expect: finishes; streams kept alive in a ring of sockets that no process holds open
import array
import os
import socket

print("ran", flush=True)
try:
    for _ in range(10):
        left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        passed = array.array("i", [0, 1, 2, left.fileno(), right.fileno()])
        left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)])
        left.close()
        right.close()
except OSError as error:
    print(error)
os._exit(0)
