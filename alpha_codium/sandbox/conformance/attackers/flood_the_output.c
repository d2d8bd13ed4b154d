// expect: OLE/RE; stdout and stderr are limited
#include <string.h>
#include <unistd.h>

int main(void)
{
    static char data[1 << 16];
    write(1, "ran\n", 4);
    memset(data, 'x', sizeof data);
    for (;;)
        if (write(1, data, sizeof data) < 0 || write(2, data, sizeof data) < 0)
            return 1;
}
