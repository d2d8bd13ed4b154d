// expect: blocked: no file of the host
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *paths[] = {
    "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/root/.ssh/id_rsa", "/tmp/gencode-canary/secret.txt",
    "/proc/1/environ", "/proc/1/mem", "/proc/1/root/etc/passwd", "/proc/kcore", "/proc/sys/kernel/core_pattern",
    "/sys/kernel", "/dev/mem", "/dev/sda", "/dev/vda", "/dev/tty", "/var/run/docker.sock", "/home",
    "../../../../etc/passwd", "/proc/self/root/etc/passwd", "/proc/self/cwd/../../etc/passwd",
};

int main(void)
{
    write(1, "ran\n", 4);
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        int file = open(paths[i], O_RDONLY | O_NONBLOCK);
        if (file >= 0)
            printf("ESCAPED: %s can be opened\n", paths[i]);
    }
    puts("blocked");
    return 0;
}
