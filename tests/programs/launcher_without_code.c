/* A launcher that starts nothing, and exits with 0 when it is asked to end. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void end(int number)
{
    (void)number;
    _exit(EXIT_SUCCESS);
}

int main(void)
{
    signal(SIGTERM, end);
    if (write(STDOUT_FILENO, "started\n", 8) != 8)
        return EXIT_FAILURE;
    for (;;)
        pause();
}
