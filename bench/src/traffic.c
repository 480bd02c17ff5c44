/* How many bytes cross the network in a collective call: what every host's devices count, before and after.
 * An ordinary MPI program.
 *
 *   traffic [--ops reduce:65536,bcast:65536] [--calls N] [--limit S]
 *
 * The first rank of each host reads the kernel's counters of its own network (/proc/net/dev, all but the
 * loopback). What is said per call is divided by the bytes of one copy to each host but the root's: 1 means
 * once per host. Headers and acknowledgements are in it. */
#include "neutral.h"
#include <getopt.h>
#include <signal.h>

typedef struct counted {
    double received, sent;
} counted;

static counted count(void)
{
    counted all = {0, 0};
    char line[512];
    FILE *file = fopen("/proc/net/dev", "r");
    if (!file)
        neutral_die("/proc/net/dev");
    while (fgets(line, sizeof line, file)) {
        char *name = line + strspn(line, " "), *colon = strchr(line, ':');
        if (!colon || strncmp(name, "lo:", 3) == 0)
            continue;
        double received, sent;
        if (sscanf(colon + 1, "%lf %*f %*f %*f %*f %*f %*f %*f %lf", &received, &sent) == 2) {
            all.received += received;
            all.sent += sent;
        }
    }
    fclose(file);
    return all;
}

static void measure(neutral *n, const char *op, size_t bytes, long calls, int first, int hosts)
{
    size_t elements = bytes / sizeof(double);
    double *out = calloc(elements, sizeof *out), *in = calloc(elements, sizeof *in);
    if (!out || !in)
        neutral_die("memory");
    int reduce = strcmp(op, "reduce") == 0;
    counted before = {0, 0}, after = {0, 0};
    for (int warm = 1; warm >= 0; warm--) { /* connections are made in the first round */
        MPI_Barrier(MPI_COMM_WORLD);
        neutral_cross(n);
        before = count();
        neutral_cross(n);
        for (long i = 0; i < (warm ? 3 : calls); i++) {
            out[elements - 1] = reduce || n->rank == 0 ? (double)i + 1 : -1;
            if (reduce)
                MPI_Reduce(out, in, (int)elements, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
            else
                MPI_Bcast(out, (int)elements, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            double got = reduce && n->rank == 0 ? in[elements - 1] / n->ranks : out[elements - 1];
            if (got != (double)i + 1) {
                fprintf(stderr, "wrong answer: %s on rank %d: %g instead of %ld\n", op, n->rank, got, i + 1);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
        }
        neutral_cross(n);
        usleep(50000); /* what is on its way or in a queue */
        after = count();
    }
    const double *received = neutral_gather(n, first ? after.received - before.received : 0);
    double sum = 0, root = 0;
    for (int r = 0; r < n->ranks; r++)
        sum += received[r];
    root = received[0];
    if (n->rank == 0) {
        double copies = (double)bytes * (double)calls * (hosts - 1);
        printf("result {\"op\": \"%s\", \"bytes\": %zu, \"calls\": %ld, \"hosts\": %d, \"copies\": %.4f, "
               "\"at_root\": %.4f}\n",
               op, bytes, calls, hosts, sum / copies, root / copies);
        fflush(stdout);
    }
    free(out);
    free(in);
    neutral_cross(n);
}

int main(int argc, char **argv)
{
    char standard[] = "reduce:65536,bcast:65536", *ops = standard;
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
