#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static volatile int depth;
static int deep(int n) { depth++; return n == 0 ? 0 : 1 + deep(n - 1); }
static int can_open(const char *path, const char *how) { FILE *file = fopen(path, how); return file != NULL; }
static int connected(void) {
    struct sockaddr_in address = {AF_INET, htons(80), {htonl(INADDR_LOOPBACK)}, {0}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

int main(void) {
    char mode[16], path[1000];
    if (scanf("%15s", mode) != 1) return 9;
    if (!strcmp(mode, "add")) { long long sum = 0, x; while (scanf("%lld", &x) == 1) sum += x; printf("%lld\n", sum); }
    if (!strcmp(mode, "exit")) { puts("leaving"); exit(3); }
    if (!strcmp(mode, "fail")) abort();
    if (!strcmp(mode, "loop")) for (volatile int i = 0;; i++);
    if (!strcmp(mode, "hoard")) for (;;) { char *block = malloc(1 << 20); if (!block) abort(); memset(block, 1, 1 << 20); }
    if (!strcmp(mode, "flood")) for (;;) puts("all work and no play makes a program dull");
    if (!strcmp(mode, "deep")) printf("%d\n", deep(100000));
    if (!strcmp(mode, "connect")) puts(connected() ? "connected" : "refused");
    if (!strcmp(mode, "read") && scanf("%999s", path) == 1) puts(can_open(path, "r") ? "read" : "refused");
    if (!strcmp(mode, "write")) puts(can_open("/program/x", "w") || can_open("/etc/x", "w") ? "written" : "refused");
    if (!strcmp(mode, "leave")) puts(can_open("left", "w") && can_open("/tmp/left", "w") ? "left" : "refused");
    if (!strcmp(mode, "look")) puts(can_open("left", "r") || can_open("/tmp/left", "r") ? "found" : "nothing");
}
