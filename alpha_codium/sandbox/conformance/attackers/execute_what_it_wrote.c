// expect: blocked: no file that a program can write to can be executed, nor any other program
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int runs(const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {(char *)path, "child", NULL};
        char *environment[] = {NULL};
        execve(path, arguments, environment);
        _exit(111);
    }
    return child > 0 && waitpid(child, &status, 0) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 111);
}

int main(int argc, char **argv)
{
    static char data[1 << 16];
    const char *others[] = {"./copy", "/tmp/copy", "/bin/sh", "/usr/bin/env", "/lib64/ld-linux-x86-64.so.2"};
    if (argc > 1)
        return 0;
    write(1, "ran\n", 4);
    for (int i = 0; i < 2; i++) {
        int from = open("/proc/self/exe", O_RDONLY);
        int to = open(others[i], O_CREAT | O_WRONLY | O_TRUNC, 0755);
        ssize_t size;
        while ((size = read(from, data, sizeof data)) > 0)
            write(to, data, size);
        close(from);
        close(to);
        chmod(others[i], 0755);
    }
    for (int i = 0; i < 5; i++)
        if (runs(others[i]))
            printf("ESCAPED %s\n", others[i]);
    puts("blocked");
    return 0;
}
