// expect: blocked: the process that started it can't be traced, read, written to or slowed down
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char word[8];

static int trace(void) { return ptrace(PTRACE_ATTACH, 1, 0, 0) == 0; }
static int seize(void) { return ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0; }
static int be_traced(void) { return ptrace(PTRACE_TRACEME, 0, 0, 0) == 0; }
static int read_memory(void)
{
    struct iovec ours = {word, 8}, theirs = {(void *)0x400000, 8};
    return process_vm_readv(getppid(), &ours, 1, &theirs, 1, 0) > 0;
}
static int open_memory(void) { return open("/proc/1/mem", O_RDWR) >= 0; }
static int open_descriptors(void) { return open("/proc/1/fd/3", O_RDWR) >= 0; }
static int limit(void)
{
    struct rlimit none = {0, 0};
    return prlimit(1, RLIMIT_CPU, &none, NULL) == 0;
}
static int stop(void) { return setpriority(PRIO_PROCESS, 1, 19) == 0 || nice(-1) != -1; }

static void attempt(const char *name, int (*reach)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(reach() ? 7 : 0);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
        printf("ESCAPED by %s\n", name);
}

int main(void)
{
    write(1, "ran\n", 4);
    kill(1, SIGKILL);
    kill(1, SIGSTOP);
    kill(1, SIGUSR1);
    attempt("PTRACE_ATTACH", trace);
    attempt("PTRACE_SEIZE", seize);
    attempt("PTRACE_TRACEME", be_traced);
    attempt("process_vm_readv", read_memory);
    attempt("/proc/1/mem", open_memory);
    attempt("/proc/1/fd/3", open_descriptors);
    attempt("prlimit", limit);
    attempt("setpriority", stop);
    puts("blocked");
    return 0;
}
