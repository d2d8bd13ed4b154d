// expect: RE/MLE/TLE; the stack is limited by the memory
#include <unistd.h>

static int deeper(int n)
{
    volatile char page[4096];
    page[n % 4096] = 1;
    return deeper(n + 1) + page[0];
}

int main(void)
{
    write(1, "ran\n", 4);
    return deeper(0);
}
