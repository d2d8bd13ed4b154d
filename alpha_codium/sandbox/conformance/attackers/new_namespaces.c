// expect: blocked: no new namespace, by any call
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned long kinds[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS};

static int by_clone(unsigned long flags)
{
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    return child > 0;
}

static int by_clone3(unsigned long flags)
{
    uint64_t arguments[11] = {flags};
    arguments[4] = SIGCHLD;
    long child = syscall(SYS_clone3, arguments, sizeof arguments);
    if (child == 0)
        _exit(0);
    return child > 0;
}

static int by_unshare(unsigned long flags)
{
    return unshare(flags) == 0;
}

static void attempt(const char *name, int (*make)(unsigned long), unsigned long flags)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(make(flags) ? 7 : 0);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
        printf("ESCAPED by %s %#lx\n", name, flags);
}

int main(void)
{
    write(1, "ran\n", 4);
    for (int i = 0; i < 6; i++) {
        attempt("clone", by_clone, kinds[i]);
        attempt("clone with a user namespace", by_clone, kinds[i] | CLONE_NEWUSER);
        attempt("clone3", by_clone3, kinds[i]);
        attempt("unshare", by_unshare, kinds[i]);
    }
    puts("blocked");
    return 0;
}
