/* How many bytes cross the network in a collective call. An ordinary MPI program.
 *
 *   traffic [--ops reduce:65536,bcast:65536] [--calls N] [--limit S]
 *
 * The first rank of each host reads the counters of the host's network devices before and after the calls
 * (/proc/net/dev, all devices but the loopback). The bytes of a call are divided by those of one copy of the
 * data to each host but the root's: 1 means that the data travelled once per host. Headers and
 * acknowledgements are included. */
#include "neutral.h"
#include <getopt.h>
#include <signal.h>

/* Bytes that all network devices of this host have received, except for the loopback. */
static double received_bytes(void)
{
    double all = 0;
    char line[512];
    FILE *file = fopen("/proc/net/dev", "r");
    if (!file)
        neutral_fail("/proc/net/dev");
    while (fgets(line, sizeof line, file)) {
        char *name = line + strspn(line, " "), *colon = strchr(line, ':');
        double received;
        if (colon && strncmp(name, "lo:", 3) != 0 && sscanf(colon + 1, "%lf", &received) == 1)
            all += received;
    }
    fclose(file);
    return all;
}

static void call_and_check(neutral *n, int is_reduce, double *out, double *in, size_t count, double expected)
{
    out[count - 1] = is_reduce || n->rank == 0 ? expected : -1;
    if (is_reduce)
        MPI_Reduce(out, in, (int)count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(out, (int)count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double got = is_reduce && n->rank == 0 ? in[count - 1] / n->ranks : out[count - 1];
    if (got != expected) {
        fprintf(stderr, "wrong answer on rank %d: %g instead of %g\n", n->rank, got, expected);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* `first`: whether this rank is the first one of its host. */
static void measure(neutral *n, const char *op, size_t bytes, long calls, int first, int hosts)
{
    size_t elements = bytes / sizeof(double);
    double *out = calloc(elements, sizeof *out), *in = calloc(elements, sizeof *in);
    if (!out || !in)
        neutral_fail("memory");
    double before = 0, after = 0;
    for (int warm = 1; warm >= 0; warm--) { /* the first round makes connections */
        MPI_Barrier(MPI_COMM_WORLD);
        neutral_barrier(n);
        before = received_bytes();
        neutral_barrier(n);
        for (long i = 0; i < (warm ? 3 : calls); i++)
            call_and_check(n, strcmp(op, "reduce") == 0, out, in, elements, (double)i + 1);
        neutral_barrier(n);
        usleep(50000); /* for packets in flight or in a queue */
        after = received_bytes();
    }
    const double *received = neutral_gather(n, first ? after - before : 0);
    double sum = 0;
    for (int r = 0; r < n->ranks; r++)
        sum += received[r];
    if (n->rank == 0) {
        double copies = (double)bytes * (double)calls * (hosts - 1);
        printf("result {\"op\": \"%s\", \"bytes\": %zu, \"calls\": %ld, \"hosts\": %d, \"copies\": %.4f, "
               "\"at_root\": %.4f}\n",
               op, bytes, calls, hosts, sum / copies, received[0] / copies);
        fflush(stdout);
    }
    free(out);
    free(in);
    neutral_barrier(n);
}

int main(int argc, char **argv)
{
    char default_ops[] = "reduce:65536,bcast:65536", *ops = default_ops;
    long calls = 20;
    int limit_s = 0, c;
    static const struct option options[] = {
        {"ops", 1, 0, 'o'}, {"calls", 1, 0, 'c'}, {"limit", 1, 0, 'l'}, {0, 0, 0, 0}};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'o': ops = optarg; break;
        case 'c': calls = atol(optarg); break;
        case 'l': limit_s = atoi(optarg); break;
        default: return 2;
        }
    }
    alarm((unsigned)limit_s);
    MPI_Init(&argc, &argv);
    neutral n = neutral_open(0);
    neutral_introduce(&n, "traffic");
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int place, hosts = 0;
    MPI_Comm_rank(host, &place);
    const double *firsts = neutral_gather(&n, place == 0);
    for (int r = 0; r < n.ranks; r++)
        hosts += firsts[r] != 0;
    for (char *word = strtok(ops, ","); word; word = strtok(NULL, ",")) {
        char *colon = strchr(word, ':');
        size_t bytes = colon ? strtoul(colon + 1, NULL, 10) / 8 * 8 : 8;
        if (colon)
            *colon = 0;
        if (hosts > 1)
            measure(&n, word, bytes ? bytes : 8, calls, place == 0, hosts);
    }
    MPI_Comm_free(&host);
    MPI_Finalize();
    return 0;
}
