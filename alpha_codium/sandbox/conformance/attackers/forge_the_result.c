// expect: finishes; there is no descriptor of the runner to write to
#include <string.h>
#include <unistd.h>

int main(void)
{
    char result[64];
    write(1, "ran\n", 4);
    for (int value = 0; value < 256; value++) {
        memset(result, value, sizeof result);
        for (int descriptor = 3; descriptor < 1024; descriptor++)
            write(descriptor, result, 48);
    }
    return 0;
}
