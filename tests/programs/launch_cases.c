/* One way to start, end or behave for each test of `--launcher evenkeel` (tests/test_launch.py).
 *
 *   launch_cases CASE [RANK [VALUE]]
 *
 * RANK is the rank that behaves in that way, VALUE what the case needs. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The name of a file. Every process of the test has it on its command line, this one's included. */
static const char *token;

static void sleep_for_ever(void)
{
    for (;;)
        sleep(1000);
}

/* The file that the token names stays locked as long as a process lives that this one has made, however. */
static void lock(void)
{
    int file = open(token, O_RDWR | O_CREAT, 0600);
    if (file < 0 || flock(file, LOCK_EX))
        perror(token);
}

/* Escapes: processes that try to outlive the job. Each ends in one that ignores SIGTERM. */
static void escape(const char *how)
{
    lock();
    if (fork())
        return;
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    if (!strcmp(how, "fork"))
        sleep_for_ever();
    setsid();
    if (!strcmp(how, "setsid"))
        sleep_for_ever();
    /* These two are never found twice under one number; the second makes a group of its own each time. If
     * they escape, they do not run for ever. */
    if (!strcmp(how, "forking") || !strcmp(how, "forking sessions"))
        for (time_t end = time(NULL) + 120; time(NULL) < end;) {
            if (fork())
                _exit(0);
            if (!strcmp(how, "forking sessions"))
                setsid();
        }
    if (!strcmp(how, "stopped"))
        raise(SIGSTOP);
    if (!strcmp(how, "subreaper"))
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() && strcmp(how, "subreaper"))
        _exit(0);
    if (!strcmp(how, "exec")) {
        char *arguments[] = {"sh", "-c", "trap '' TERM; while :; do sleep 1; done", (char *)token, NULL};
        char *environment[] = {NULL};
        execve("/bin/sh", arguments, environment);
    }
    sleep_for_ever();
}

static int spawn(char **argv)
{
    MPI_Comm parent, children;
    int rank, remote = 0, value = 0;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parent == MPI_COMM_NULL) {
        char *arguments[] = {"spawn", "0", "two words", argv[4], NULL};
        MPI_Comm_spawn(argv[0], arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Comm_remote_size(children, &remote);
        value = 42;
        MPI_Bcast(&value, 1, MPI_INT, rank ? MPI_PROC_NULL : MPI_ROOT, children);
        printf("parent %d of %d children\n", rank, remote);
        MPI_Comm_disconnect(&children);
    } else {
        MPI_Bcast(&value, 1, MPI_INT, 0, parent);
        printf("child %d has %d and '%s'\n", rank, value, argv[3]);
        MPI_Comm_disconnect(&parent);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none", *value = argc > 3 ? argv[3] : "";
    int one = argc > 2 ? atoi(argv[2]) : 0, rank, size;
    token = argc > 4 ? argv[4] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "spawn"))
        spawn(argv);
    if (!strcmp(what, "all exit"))
        exit(0);
    if (!strcmp(what, "lines"))
        for (int i = 0; i < atoi(value); i++) {
            char line[256];
            int length = snprintf(line, sizeof line, "<%d %d %.*s>\n", rank, i, 20 + i % 150,
                                  "----------------------------------------------------------------------"
                                  "----------------------------------------------------------------------"
                                  "--------------------------------------------");
            int half = length / 2; /* in two parts, so that a line is easily torn */
            if (write(1, line, half) < 0 || write(1, line + half, length - half) < 0)
                return 1;
        }
    if (rank == one) {
        if (!strcmp(what, "abort"))
            MPI_Abort(MPI_COMM_WORLD, atoi(value));
        if (!strcmp(what, "exit") || !strcmp(what, "exit alone"))
            exit(atoi(value));
        if (!strcmp(what, "kill"))
            raise(atoi(value));
        if (!strcmp(what, "escape"))
            escape(value);
        if (!strcmp(what, "echo")) {
            char line[100];
            while (fgets(line, sizeof line, stdin))
                printf("read %s", line);
        }
        if (!strcmp(what, "prompt")) {
            char line[100];
            printf("name? ");
            fflush(stdout);
            if (fgets(line, sizeof line, stdin))
                printf("hello %s", line);
        }
        if (!strcmp(what, "flood")) /* writes whatever happens */
            for (;;)
                if (write(1, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", 64) < 0)
                    return 1;
        if (!strcmp(what, "stubborn")) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGINT, SIG_IGN);
        }
    }
    if (!strcmp(what, "exit alone")) /* the library does not notice */
        sleep_for_ever();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "sleep") || !strcmp(what, "stubborn")) {
        printf("asleep\n");
        fflush(stdout);
        if (!strcmp(value, "escape") && rank == one)
            escape("setsid");
        sleep_for_ever();
    }
    if (strcmp(what, "lines"))
        printf("rank %d of %d\n", rank, size);
    MPI_Finalize();
    if (!strcmp(what, "late exit") && rank == one)
        return atoi(value);
    return 0;
}
