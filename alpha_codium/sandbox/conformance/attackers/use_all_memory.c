// expect: MLE/RE/TLE; by one process
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    write(1, "ran\n", 4);
    for (;;) {
        char *more = malloc(1 << 20);
        if (more == NULL)
            abort();
        memset(more, 1, 1 << 20);
    }
}
