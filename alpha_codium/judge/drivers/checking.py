"""A driver that runs a checker program on one output of a candidate, or an interactor beside it.

1. stdin holds, packed by `packing`: the checker's protocol (`icpc` or `testlib`), its kind (`python` or `image`), its
   flags, the test's input, its answer, the candidate's output, and then names and texts of the checker's other files.
   All are written into the current folder; stdin becomes the candidate's output. For an interactor, the protocol ends
   in `interactive`, and stdin and stdout become the pipes to the candidate. One in Python that reads beyond the end of
   what the candidate printed (EOFError) rejects it, as interactors of testlib do.
2. A checker in Python is the program itself. Otherwise the program only holds the checker's executable image,
   compressed and in base64, which replaces this process (`run_image`). exec can't be used: the sandbox lets no program
   be started and no writable file be executed.
3. The checker's verdict is its exit status, so the driver must not exit with one: any failure here aborts. So does an
   uncaught exception in a checker in Python, since Python's status 1 would be a verdict of testlib.
4. An image is a 64-bit static, position-independent executable (`g++ -static-pie`), which needs no loader and
   relocates itself. Its segments are copied into new memory, which is made executable after it is made unwritable. Its
   stack is filled as by the kernel (System V ABI, "Process Initialization"): the arguments, the environment, and the
   auxiliary vector, mostly taken from this process. A few bytes of machine code set the stack pointer and jump. This
   has never been run on arm64.
"""

import binascii
import ctypes
import os
import signal
import sys
import zlib
from collections.abc import Sequence
from types import CodeType
from typing import Any

from alpha_codium.judge.packing import unpack
from alpha_codium.judge.writing import write_file

# Code by `e_machine`: set the stack pointer to the first argument, clear the register of the loader's exit function,
# jump to the second argument.
JUMPS = {
    62: bytes.fromhex("31d2 4889fc ffe6"),  # x86-64: xor edx, edx; mov rsp, rdi; jmp rsi
    183: bytes.fromhex("1f000091 e0031faa 20001fd6"),  # arm64: mov sp, x0; mov x0, xzr; br x1
}
OWN_MACHINE = {"x86_64": 62, "aarch64": 183}
STATIC_PIE, LOADED = 3, 1  # ET_DYN, PT_LOAD
READ, WRITE, EXECUTE = 1, 2, 4
# MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
NEW_MEMORY = 0x02 | 0x20 | 0x4000
FAILED = (1 << 64) - 1
STACK_BYTES = 256 << 20
# Entries of the auxiliary vector (linux/auxvec.h): those that describe the program, and those of the process.
HEADERS, HEADER_SIZE, HEADER_COUNT, PAGE_SIZE, LOADER, ENTRY, SECURE, FILE_NAME = 3, 4, 5, 6, 7, 9, 23, 31
OF_THE_PROCESS = (PAGE_SIZE, 11, 12, 13, 14, 15, 16, 17, 25, 26, 33, 51)


def run_image(image: bytes, arguments: "Sequence[bytes]") -> None:
    """Replace this process by the program `image` with `arguments` (its name first); raises OSError if that fails."""
    libc = _library()
    machine, entry, headers_at, count = _header_of(image)
    base = _load(libc, image, headers_at, count)
    about = {
        **{kind: libc.getauxval(kind) for kind in OF_THE_PROCESS if libc.getauxval(kind)},
        **{HEADERS: base + headers_at, HEADER_SIZE: 56, HEADER_COUNT: count},
        **{LOADER: 0, ENTRY: base + entry, SECURE: 0},
    }
    stack, _kept = _stack(libc, arguments, about)
    code = _memory(libc, len(JUMPS[machine]))
    ctypes.memmove(code, JUMPS[machine], len(JUMPS[machine]))
    _protect(libc, code, len(JUMPS[machine]), READ | EXECUTE)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64)(code)(stack, base + entry)


def _library() -> "Any":
    libc = ctypes.CDLL(None, use_errno=True)
    number, size = ctypes.c_uint64, ctypes.c_size_t
    libc.mmap.restype, libc.mmap.argtypes = number, (number, size, *[ctypes.c_int] * 3, ctypes.c_long)
    libc.mprotect.argtypes = (number, size, ctypes.c_int)
    libc.getauxval.restype, libc.getauxval.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
    return libc


def _number(image: bytes, at: int, size: int) -> int:
    return int.from_bytes(image[at : at + size], "little")


def _header_of(image: bytes) -> "tuple[int, int, int, int]":
    """The machine, the entry point, the offset of the program headers, and their number."""
    machine = _number(image, 18, 2)
    if image[:5] != b"\x7fELF\x02" or _number(image, 16, 2) != STATIC_PIE:
        raise OSError("not a 64-bit position-independent executable")
    if machine != OWN_MACHINE.get(os.uname().machine):
        raise OSError(f"not compiled for {os.uname().machine}")
    return machine, _number(image, 24, 8), _number(image, 32, 8), _number(image, 56, 2)


def _load(libc: "Any", image: bytes, headers_at: int, count: int) -> int:
    """Copy the segments into new memory; return its address."""
    segments = []
    for at in range(headers_at, headers_at + 56 * count, 56):
        if _number(image, at, 4) == LOADED:
            flags = _number(image, at + 4, 4)
            offset, address, _, in_file, in_memory = (_number(image, at + 8 * i, 8) for i in range(1, 6))
            segments.append((address, in_memory, image[offset : offset + in_file], flags))
    base = _memory(libc, max(address + size for address, size, _, _ in segments))
    for address, _, data, _ in segments:
        ctypes.memmove(base + address, data, len(data))
    for address, size, _, flags in segments:
        # In ELF's flags the bits for reading and executing are swapped.
        protection = (READ if flags & 4 else 0) | flags & WRITE | (EXECUTE if flags & 1 else 0)
        _protect(libc, base + address, size, protection)
    return base


def _stack(libc: "Any", arguments: "Sequence[bytes]", about: "dict[int, int]") -> "tuple[int, list[Any]]":
    """Make a program's initial stack; return its top, and the buffers that it points to."""
    texts = [ctypes.create_string_buffer(text) for text in arguments]
    names = [ctypes.create_string_buffer(name + b"=" + value) for name, value in os.environb.items()]
    about = {**about, FILE_NAME: ctypes.addressof(texts[0])}
    words = [len(texts), *map(ctypes.addressof, texts), 0, *map(ctypes.addressof, names), 0]
    for pair in (*about.items(), (0, 0)):
        words += pair
    bottom = _memory(libc, STACK_BYTES)
    _protect(libc, bottom, 1, 0)
    top = (bottom + STACK_BYTES - 8 * len(words)) & ~0xF
    ctypes.memmove(top, (ctypes.c_uint64 * len(words))(*words), 8 * len(words))
    return top, [texts, names]


def _memory(libc: "Any", size: int) -> int:
    """Allocate memory that can be read and written."""
    address = libc.mmap(0, size, READ | WRITE, NEW_MEMORY, -1, 0)
    if address == FAILED:
        raise OSError(ctypes.get_errno(), "no memory left for the checker")
    return address


def _protect(libc: "Any", address: int, size: int, protection: int) -> None:
    """Set the protection of the pages that hold this memory."""
    page = libc.getauxval(PAGE_SIZE) or 4096
    start = address - address % page
    if libc.mprotect(start, address + size - start, protection):
        raise OSError(ctypes.get_errno(), "this system doesn't allow executable memory")


NAME = "checker"


def check(program: "CodeType") -> None:
    """Write the files and run the checker."""
    with open(0, "rb", closefd=False) as packed:
        protocol, language, flags, *texts = unpack(packed.read())
    names = (*texts[3::2], b"input", b"answer", b"output", b"feedback/")
    for name, text in zip(names, (*texts[4::2], *texts[:3], b"")):  # noqa: B905 - Python 3.9
        write_file(name, text)
    del texts, text
    protocol, _, interactive = protocol.partition(b" ")
    streams = (3, 4) if interactive else (os.open("output", os.O_RDONLY), os.dup(2))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    here = os.getcwdb() + b"/"  # noqa: PTH109
    given = ("input", "output", "answer") if protocol == b"testlib" else ("input", "answer", "feedback/")
    arguments = [NAME.encode(), *(here + name.encode() for name in given), *flags.split()]
    if language == b"image":
        namespace = {}
        exec(program, namespace)  # noqa: S102 - it only assigns a string
        run_image(zlib.decompress(binascii.a2b_base64(namespace["IMAGE"])), arguments)
    # Outputs may hold numbers of any length.
    getattr(sys, "set_int_max_str_digits", lambda _digits: None)(0)
    sys.argv[:] = map(os.fsdecode, arguments)
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    try:
        exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for
    except EOFError as error:
        if not interactive:
            raise
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(2 if protocol == b"testlib" else 43)


if "program" in globals():
    try:
        check(globals()["program"])
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - it must not become a verdict
        sys.excepthook(type(error), error, error.__traceback__)
        sys.stderr.flush()
        os.abort()
