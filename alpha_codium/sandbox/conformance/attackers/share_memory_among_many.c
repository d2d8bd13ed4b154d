// expect: MLE/RE/TLE; each process alone stays below the limit
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    size_t size = 24 << 20;
    write(1, "ran\n", 4);
    for (int i = 0; i < 40; i++) {
        if (fork() == 0) {
            int file = memfd_create("more", 0);
            if (file < 0 || ftruncate(file, size))
                _exit(1);
            char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            memset(memory, 1, size);
            pause();
        }
    }
    for (;;)
        pause();
}
