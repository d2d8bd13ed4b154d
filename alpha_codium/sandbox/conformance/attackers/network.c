// expect: blocked: no socket of any family
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    write(1, "ran\n", 4);
    for (int family = 0; family < 46; family++)
        for (int kind = 1; kind <= 5; kind++)
            if (socket(family, kind, 0) >= 0)
                printf("ESCAPED: a socket of family %d, type %d\n", family, kind);
    puts("blocked");
    return 0;
}
