// expect: blocked: limits can only be lowered
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
    int kinds[] = {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_MEMLOCK, RLIMIT_CORE};
    write(1, "ran\n", 4);
    for (int i = 0; i < 6; i++) {
        struct rlimit limit, more;
        getrlimit(kinds[i], &limit);
        more.rlim_cur = more.rlim_max = limit.rlim_max == RLIM_INFINITY ? RLIM_INFINITY : limit.rlim_max + 1;
        if (limit.rlim_max == RLIM_INFINITY || setrlimit(kinds[i], &more) == 0)
            printf("ESCAPED: limit %d isn't set, or can be raised\n", kinds[i]);
    }
    puts("blocked");
    return 0;
}
