# expect: blocked or killed: system calls by the numbers of 32 bits and of x32, which a filter may forget
# machine: x86_64
import ctypes
import mmap

print("ran", flush=True)


def run(code):
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    result = function()
    return result


try:
    x32 = run(b"\xb8\x27\x00\x00\x40\x0f\x05\xc3")  # mov eax, 0x40000027 (getpid of x32); syscall; ret
    print("ESCAPED: x32" if x32 > 0 else f"blocked {x32}", flush=True)
    int80 = run(
        b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3"
    )  # push rbx; mov eax, 20 (getpid of i386); int 0x80; pop; ret
    print("ESCAPED: int 0x80" if int80 > 0 else f"blocked {int80}", flush=True)
except OSError as error:
    print("blocked", error)
