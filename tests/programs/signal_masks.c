/* Signals while the gate catches system calls: masks and alternate stacks that are set after a barrier stay
 * set, and child processes work. Prints RESULT wrong N. */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int is_blocked(int signal)
{
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, signal);
}

static void block(int how, int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(how, &set, NULL);
}

static int check_masks(void)
{
    int wrong = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    block(SIG_BLOCK, SIGUSR1);
    wrong += !is_blocked(SIGUSR1);
    MPI_Barrier(MPI_COMM_WORLD);
    block(SIG_UNBLOCK, SIGUSR1);
    wrong += is_blocked(SIGUSR1);
    return wrong;
}

static int check_alternate_stack(void)
{
    static char stack[65536];
    MPI_Barrier(MPI_COMM_WORLD);
    stack_t mine = {.ss_sp = stack, .ss_size = sizeof stack}, now;
    sigaltstack(&mine, NULL);
    sigaltstack(NULL, &now);
    mine.ss_flags = SS_DISABLE;
    sigaltstack(&mine, NULL);
    return now.ss_sp != stack;
}

/* siglongjmp restores the mask that sigsetjmp has saved. */
static int check_jump(void)
{
    sigjmp_buf back;
    if (!sigsetjmp(back, 1)) {
        block(SIG_BLOCK, SIGUSR2);
        MPI_Barrier(MPI_COMM_WORLD);
        siglongjmp(back, 1);
    }
    return is_blocked(SIGUSR2);
}

/* Programs with a thread for signals block all signals. The gate must catch system calls nevertheless. */
static int check_all_blocked(void)
{
    sigset_t everything, before;
    sigfillset(&everything);
    sigprocmask(SIG_BLOCK, &everything, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = access("/", F_OK) != 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return wrong;
}

static int check_children(void)
{
    pid_t child;
    int status = -1, wrong = 0;
    char *arguments[] = {"true", NULL};
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += posix_spawnp(&child, "true", NULL, NULL, arguments, environ) ||
             waitpid(child, &status, 0) != child || status;
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += system("true") != 0;
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        wrong += check_masks() + check_alternate_stack() + check_jump() + check_all_blocked();
    for (int i = 0; i < 10; i++)
        wrong += check_children();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT wrong %d\n", all);
    MPI_Finalize();
    return 0;
}
