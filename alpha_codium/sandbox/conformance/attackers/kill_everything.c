// expect: finishes; it can only signal itself
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    write(1, "ran\n", 4);
    for (int number = 1; number < 65; number++)
        if (number != SIGCHLD)
            signal(number, SIG_IGN);
    for (int process = -70000; process < 70000; process++)
        if (process != getpid() && process != 0 && process != -getpid())
            kill(process, SIGKILL);
    for (int process = 1; process < 1000; process++)
        if (process != getpid())
            syscall(SYS_tgkill, process, process, SIGKILL);
    return 0;
}
