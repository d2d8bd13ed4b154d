// expect: blocked: calls by the conventions of 32 bits and of x32, which a filter may forget
// # machine: x86_64
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static long by_interrupt(void)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory"); // getpid
    return result;
}

static long by_x32(void)
{
    return syscall(0x40000000 | 39); // getpid
}

static void attempt(const char *name, long (*call)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(call() > 0 ? 7 : 0);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
        printf("ESCAPED by %s\n", name);
}

int main(void)
{
    write(1, "ran\n", 4);
    attempt("int 0x80", by_interrupt);
    attempt("x32", by_x32);
    puts("blocked");
    return 0;
}
