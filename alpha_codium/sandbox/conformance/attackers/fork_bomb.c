// expect: TLE/RE/MLE; all of them die with the test
#include <unistd.h>

int main(void)
{
    write(1, "ran\n", 4);
    for (;;)
        fork();
}
