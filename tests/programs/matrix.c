/* Calls collectives in combinations of operation, datatype, operator, root, size, in place and form, and
 * compares every byte of every result with a serial oracle.
 *
 *   matrix n=5000 seed=1 kinds=all forms=0123 largest=1048576 stall=0 plain=0 verbose=0
 *
 * n: how many valid combinations to try, in a scattered order that all ranks share (0: all). Fewer of those
 * with large messages are tried. plain=1: leave out what host libraries themselves get wrong here or there
 * (types with holes, in place), to compare with them. stall=N: ranks stall before every Nth call. Prints
 * "RESULT checks … failures … digest …".
 *
 * matrix_combination.h says what is combined, matrix_call.h makes the calls, matrix_data.h is the oracle. */
#include "matrix_data.h"

typedef struct options {
    uint64_t wanted, seed;
    const char *kinds, *forms;
    size_t largest;
    int stalls, plain, verbose;
} options;

/* Which operators the host library applies correctly to which types. */
static char is_combinable[OPERATIONS][TYPES_MAX];

static void ask_host_what_it_combines(void)
{
    for (int o = 0; o < OPERATIONS; o++)
        for (int t = 0; t < types_count; t++)
            is_combinable[o][t] = operations[o].families & types[t].family &&
                                  (o != MODADD || types[t].mpi == MPI_INT) &&
                                  host_reduces_correctly(o, &types[t]);
}

static options parse(int argc, char **argv)
{
    return (options){
        .wanted = (uint64_t)number(argc, argv, "n", 2000),
        .seed = (uint64_t)number(argc, argv, "seed", 1),
        .kinds = argument(argc, argv, "kinds", "all"),
        .forms = argument(argc, argv, "forms", MPI_VERSION >= 4 ? "0123" : "01"),
        .largest = (size_t)number(argc, argv, "largest", 1 << 20),
        .stalls = (int)number(argc, argv, "stall", 0),
        .plain = (int)number(argc, argv, "plain", 0),
        .verbose = (int)number(argc, argv, "verbose", 0),
    };
}

/* Is this combination valid, and do the options ask for it? */
static int is_wanted(const combination *c, const options *o)
{
    const type *t = &types[c->type];
    char form[2] = {(char)('0' + c->form), 0};
    if (!listed(o->kinds, kind_names[c->kind]) || !strchr(o->forms, form[0]) ||
        (MPI_VERSION < 4 && c->form > 1))
        return 0;
    if (is_reduction(c->kind) ? !is_combinable[c->op][c->type] : c->op != 0)
        return 0;
    if ((!is_rooted(c->kind) && c->root) || (c->kind == BARRIER && (c->type || c->bytes || c->in_place)) ||
        (c->kind == BCAST && c->in_place))
        return 0;
    if (o->plain && (c->in_place || memchr(t->mask, 0, (size_t)t->extent) || t->mpi == with_holes))
        return 0;
    int blocks = has_block_per_rank(c->kind) ? world_size : 1;
    if (c->bytes > o->largest || c->bytes * (size_t)blocks > 4u << 20)
        return 0;
    return c->bytes <= 2000 || mix(c->seed) % (c->bytes > 50000 ? 32 : 4) == 0;
}

static void run(const combination *c)
{
    exchange x;
    MPI_Request request = MPI_REQUEST_NULL;
    prepare(&x, c);
    int code = start(&x.k, c, &request);
    if (code != MPI_SUCCESS)
        fail("%s form %d returned %d", kind_names[c->kind], c->form, code);
    else if (c->form & 1)
        complete(&request, mix(c->seed ^ (uint64_t)world_rank));
    judge(&x);
}

/* Tries combinations in a scattered order. Returns how many. */
static uint64_t walk(const options *o)
{
    const uint64_t dims[] = {KINDS, (uint64_t)types_count, OPERATIONS, (uint64_t)world_size, SIZES, 2, FORMS};
    uint64_t total = 1, stride = 1000003, done = 0;
    rng delays = {mix3(o->seed, (uint64_t)world_rank, 5)};
    for (int d = 0; d < 7; d++)
        total *= dims[d];
    while (total % stride == 0) /* prime to the number of combinations: the walk meets each of them once */
        stride += 2;
    for (uint64_t j = 0; j < total && (!o->wanted || done < o->wanted); j++) {
        /* If only a few of many are wanted they are drawn at random: steps of equal length would miss whole
         * operations when they fit the dimensions. */
        int few = o->wanted && o->wanted < total / 2;
        uint64_t index = few ? mix3(o->seed, j, 9) % total : (j * stride + mix(o->seed)) % total;
        uint64_t x = index, d[7];
        for (int i = 0; i < 7; i++)
            d[i] = x % dims[i], x /= dims[i];
        combination c = {(int)d[0], (int)d[1], (int)d[2],          (int)d[3],
                         (int)d[5], (int)d[6], size_classes[d[4]], mix3(o->seed, index, 1)};
        if (!is_wanted(&c, o))
            continue;
        if (o->verbose)
            fprintf(stderr, "[%d] %s %s %s root %d in_place %d form %d bytes %zu\n", world_rank,
                    kind_names[c.kind], types[c.type].name, operations[c.op].name, c.root, c.in_place, c.form,
                    c.bytes);
        if (o->stalls)
            stall(&delays, o->stalls, 2000);
        run(&c);
        done++;
    }
    return done;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (world_size > RANKS_MAX)
        return 2;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    make_types();
    make_operations();
    ask_host_what_it_combines();
    options o = parse(argc, argv);
    int code = report_result(walk(&o));
    MPI_Finalize();
    return code;
}
