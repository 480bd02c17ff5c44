/* The lower bound of launching: starts a program N times by posix_spawn, and waits for all.
 *
 *   spawn N program [argument ...]
 *
 * The exit code is 1 if one of them fails. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: spawn N program [argument ...]\n");
        return 2;
    }
    int count = atoi(argv[1]), status, failed = 0;
    for (int i = 0; i < count; i++) {
        pid_t child;
        int error = posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ);
        if (error) {
            fprintf(stderr, "spawn: %s: %s\n", argv[2], strerror(error));
            failed = 1;
            break;
        }
    }
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}
