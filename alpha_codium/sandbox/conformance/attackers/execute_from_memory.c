// expect: finishes; code that it makes itself runs in the same jail
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sendfile.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc > 1) {
        if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || open("/etc/passwd", O_RDONLY) >= 0)
            puts("ESCAPED");
        return 0;
    }
    write(1, "ran\n", 4);
    int own = open("/proc/self/exe", O_RDONLY), copy = memfd_create("copy", 0);
    while (sendfile(copy, own, NULL, 1 << 20) > 0)
        ;
    char *arguments[] = {argv[0], "child", NULL};
    char *environment[] = {NULL};
    fexecve(copy, arguments, environment);
    return 0;
}
