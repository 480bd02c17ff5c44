/* Mistakes that make parallel programs hang, each as a program of users has it. By the name of its case:
 *
 *   planted_hangs CASE
 *
 * Four ranks or more. The ranks work together for some rounds; then the mistake comes. */
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { ROUNDS = 10, LONG = 4 << 20 };

static int in, out, all[64];
static char bytes[LONG];

static int next(void) { return (world_rank + 1) % world_size; }
static int last(void) { return (world_rank + world_size - 1) % world_size; }

static void allreduce(MPI_Comm comm) { MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, comm); }
static void receive_int(int from, int tag)
{
    MPI_Recv(&in, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void send_int(int to, int tag) { MPI_Send(&out, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }
static void send_synchronously(int to, int tag) { MPI_Ssend(&out, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }

/* Four ranks of a row, or all of a smaller job. */
static MPI_Comm split(int color)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, color, world_rank, &part);
    return part;
}

static volatile double field;

static void never_converges(void)
{
    for (double residual = 1;; residual = residual * 0.5 + 0.5)
        field = residual;
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

/* ---- a rank that does not come to a collective ---- */

static void skipped_barrier(void)
{
    if (world_rank == 2)
        never_converges();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void skipped_in_a_row(void)
{
    MPI_Comm row = split(world_rank % 2);
    MPI_Comm_set_name(row, "row");
    if (world_rank == 1)
        never_converges();
    allreduce(row);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void root_that_reads_its_input(void)
{
    int pipes[2];
    char byte;
    if (world_rank == 0 && !pipe(pipes))
        (void)!read(pipes[0], &byte, 1);
    MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void one_part_of_a_sum_is_missing(void)
{
    if (world_rank == 3)
        never_converges();
    MPI_Reduce(&out, &in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void long_broadcast(void)
{
    if (world_rank == 0)
        never_converges();
    MPI_Bcast(bytes, LONG, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void gather_without_a_root(void)
{
    if (world_rank == 0)
        never_converges();
    MPI_Gather(&out, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void scan_without_its_beginning(void)
{
    if (world_rank == 0)
        never_converges();
    MPI_Scan(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void blocks_of_different_lengths(void)
{
    int counts[64], places[64];
    for (int rank = 0; rank < world_size; rank++)
        counts[rank] = 1, places[rank] = rank;
    if (world_rank == 1)
        never_converges();
    MPI_Allgatherv(&out, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void split_without_all(void)
{
    if (world_rank == 2)
        never_converges();
    split(0);
}

static void window_without_all(void)
{
    MPI_Win window;
    if (world_rank == 3)
        never_converges();
    MPI_Win_create(bytes, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

static void fence_without_all(void)
{
    MPI_Win window;
    MPI_Win_create(bytes, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (world_rank == 1)
        never_converges();
    MPI_Win_fence(0, window);
}

static void nonblocking_sum_that_one_has_not_started(void)
{
    MPI_Request request;
    if (world_rank == 2)
        never_converges();
    MPI_Iallreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_side_of_an_intercommunicator(void)
{
    MPI_Comm half = split(world_rank % 2), both;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 3, &both);
    if (world_rank == 1)
        never_converges();
    MPI_Barrier(both);
}

/* ---- ranks that have taken different branches ---- */

static void one_iteration_less(void)
{
    for (int round = 0; round < (world_rank == 2 ? 4 : 5); round++)
        allreduce(MPI_COMM_WORLD);
    if (world_rank == 0)
        for (int rank = 1; rank < world_size; rank++)
            receive_int(rank, 9);
    else
        send_synchronously(0, 9);
}

static void one_iteration_less_and_the_end(void)
{
    for (int round = 0; round < (world_rank == 2 ? 4 : 5); round++)
        allreduce(MPI_COMM_WORLD);
    MPI_Finalize();
    exit(0);
}

static void wrong_root(void)
{
    MPI_Bcast(&in, 1, MPI_INT, world_rank == 3 ? 1 : 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wrong_root_of_a_sum(void)
{
    MPI_Reduce(&out, &in, 1, MPI_INT, MPI_SUM, world_rank == 1 ? 1 : 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void other_order(void)
{
    if (world_rank == 3) {
        allreduce(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        allreduce(MPI_COMM_WORLD);
    }
}

static void communicators_in_other_order(void)
{
    MPI_Comm a, b;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    MPI_Barrier(world_rank == 1 ? b : a);
    MPI_Barrier(world_rank == 1 ? a : b);
}

static void rows_and_columns(void)
{
    MPI_Comm row = split(world_rank / 2), column = split(world_rank % 2);
    allreduce(world_rank == 0 || world_rank == 3 ? row : column);
    allreduce(world_rank == 0 || world_rank == 3 ? column : row);
}

static void a_message_behind_a_barrier(void)
{
    if (world_rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        send_int(1, 4);
    } else {
        if (world_rank == 1)
            receive_int(0, 4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void a_message_behind_a_sum(void)
{
    if (world_rank)
        allreduce(MPI_COMM_WORLD);
    else
        receive_int(3, 12);
    if (world_rank == 3)
        send_int(0, 12);
}

/* ---- messages ---- */

static void receives_head_to_head(void) { receive_int(world_rank ^ 1, 7), send_int(world_rank ^ 1, 7); }
static void sends_head_to_head(void)
{
    send_synchronously(world_rank ^ 1, 7), receive_int(world_rank ^ 1, 7);
}

static void long_sends_head_to_head(void)
{
    MPI_Send(bytes, LONG, MPI_CHAR, world_rank ^ 1, 7, MPI_COMM_WORLD);
    MPI_Recv(bytes, LONG, MPI_CHAR, world_rank ^ 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ring(void) { receive_int(last(), 7), send_int(next(), 7); }

static void wrong_tag(void)
{
    if (world_rank == 0)
        send_int(1, 5);
    if (world_rank == 1)
        receive_int(0, 6);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wrong_source(void)
{
    if (world_rank == 0)
        send_int(1, 5);
    if (world_rank == 1)
        receive_int(2, 5);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wrong_communicator(void)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (world_rank == 0)
        send_int(1, 5);
    if (world_rank == 1)
        MPI_Recv(&in, 1, MPI_INT, 0, 5, copy, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one_result_less(void)
{
    if (world_rank == 0)
        for (int results = 0; results < world_size; results++)
            receive_int(MPI_ANY_SOURCE, 8);
    else
        send_int(0, 8);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void workers_without_an_end(void)
{
    if (world_rank == 0) {
        for (int rank = 1; rank < world_size - 1; rank++)
            send_int(rank, 1); /* and nothing for the last one */
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        receive_int(0, 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void exchange_with_the_wrong_side(void)
{
    MPI_Sendrecv(&out, 1, MPI_INT, next(), 2, &in, 1, MPI_INT, next(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    MPI_Status status;
    if (world_rank == 1)
        MPI_Probe(3, 4, MPI_COMM_WORLD, &status);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void waitall(void)
{
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, last(), 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, next(), world_rank == 2 ? 6 : 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent_receive(void)
{
    MPI_Request request;
    MPI_Recv_init(&in, 1, MPI_INT, world_rank ^ 1, 7, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void to_itself(void)
{
    if (world_rank == 1)
        send_synchronously(1, 3);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void polling(void)
{
    int has_come = 0;
    if (world_rank == 2)
        while (!has_come)
            MPI_Iprobe(0, 77, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- one-sided ---- */

static void lock_held(void)
{
    MPI_Win window;
    MPI_Win_create(bytes, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (world_rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        send_int(2, 3);
        receive_int(2, 4);
        MPI_Win_unlock(0, window);
    }
    if (world_rank == 2) {
        receive_int(1, 3);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
        send_int(1, 4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void post_without_a_start(void)
{
    MPI_Win window;
    MPI_Group everybody, origin;
    MPI_Win_create(bytes, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &everybody);
    MPI_Group_incl(everybody, 1, (int[]){1}, &origin);
    if (world_rank == 0) {
        MPI_Win_post(origin, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- what a rank does outside MPI ---- */

static void stopped(void)
{
    if (world_rank == 1)
        raise(SIGSTOP);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void uninterruptible(void)
{
    if (world_rank == 1 && vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep_for_ever();
    }
    allreduce(MPI_COMM_WORLD);
}

static void file_lock(void)
{
    char name[64];
    snprintf(name, sizeof name, "/tmp/planted-%d", (int)getppid());
    int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (world_rank == 1)
        flock(file, LOCK_EX);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 2) {
        unlink(name);
        flock(file, LOCK_EX);
    }
    allreduce(MPI_COMM_WORLD);
}

static void own_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (world_rank == 3) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
    }
    allreduce(MPI_COMM_WORLD);
}

static void child(void)
{
    if (world_rank == 1) {
        pid_t id = fork();
        if (id == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            sleep_for_ever();
        }
        waitpid(id, NULL, 0);
    }
    allreduce(MPI_COMM_WORLD);
}

static void server(void)
{
    if (world_rank == 2) {
        int listener = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr address = {.sa_family = AF_UNIX}; /* the kernel chooses a name */
        bind(listener, &address, sizeof(sa_family_t));
        listen(listener, 1);
        accept(listener, NULL, NULL);
    }
    allreduce(MPI_COMM_WORLD);
}

static void *work_for_ever(void *unused)
{
    never_converges();
    return unused;
}

static void thread_that_does_not_end(void)
{
    if (world_rank == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, work_for_ever, NULL);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void asleep(void)
{
    if (world_rank == 3)
        sleep(100000);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- ranks that have ended ---- */

static void exited(void)
{
    if (world_rank == 2)
        _exit(0);
    if (world_rank == 0)
        receive_int(2, 1);
    else
        sleep_for_ever();
}

static void finalized(void)
{
    if (world_rank == 3) {
        MPI_Finalize();
        exit(0);
    }
    if (world_rank == 0)
        receive_int(3, 1);
    else
        receive_int(0, 1);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(skipped_barrier),
    CASE(skipped_in_a_row),
    CASE(root_that_reads_its_input),
    CASE(one_part_of_a_sum_is_missing),
    CASE(long_broadcast),
    CASE(gather_without_a_root),
    CASE(scan_without_its_beginning),
    CASE(blocks_of_different_lengths),
    CASE(split_without_all),
    CASE(window_without_all),
    CASE(fence_without_all),
    CASE(nonblocking_sum_that_one_has_not_started),
    CASE(other_side_of_an_intercommunicator),
    CASE(one_iteration_less),
    CASE(one_iteration_less_and_the_end),
    CASE(wrong_root),
    CASE(wrong_root_of_a_sum),
    CASE(other_order),
    CASE(communicators_in_other_order),
    CASE(rows_and_columns),
    CASE(a_message_behind_a_barrier),
    CASE(a_message_behind_a_sum),
    CASE(receives_head_to_head),
    CASE(sends_head_to_head),
    CASE(long_sends_head_to_head),
    CASE(ring),
    CASE(wrong_tag),
    CASE(wrong_source),
    CASE(wrong_communicator),
    CASE(one_result_less),
    CASE(workers_without_an_end),
    CASE(exchange_with_the_wrong_side),
    CASE(probe),
    CASE(waitall),
    CASE(persistent_receive),
    CASE(to_itself),
    CASE(polling),
    CASE(lock_held),
    CASE(post_without_a_start),
    CASE(stopped),
    CASE(uninterruptible),
    CASE(file_lock),
    CASE(own_mutex),
    CASE(child),
    CASE(server),
    CASE(thread_that_does_not_end),
    CASE(asleep),
    CASE(exited),
    CASE(finalized),
};

/* Messages and collectives that all ranks take part in. */
static void work_together(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Sendrecv(&out, 1, MPI_INT, next(), 1, &in, 1, MPI_INT, last(), 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        allreduce(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *name = argc > 1 ? argv[1] : "";
    work_together();
    for (size_t it = 0; it < sizeof cases / sizeof *cases; it++)
        if (!strcmp(cases[it].name, name)) {
            cases[it].run();
            fprintf(stderr, "planted_hangs: %s has come to its end\n", name);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    fprintf(stderr, "planted_hangs: there is no case '%s'\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
}
