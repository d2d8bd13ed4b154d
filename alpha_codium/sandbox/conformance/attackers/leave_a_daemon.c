// expect: finishes; what it leaves behind is ended
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    write(1, "ran\n", 4);
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;) {
                FILE *file = fopen("/tmp/planted_by_attacker.py", "w");
                if (file != NULL)
                    fclose(file);
                usleep(1000);
            }
        _exit(0);
    }
    return 0;
}
