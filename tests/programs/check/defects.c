/* Programs that break a rule of MPI, each beside a twin that keeps it: `defects CASE`. A line with a comment
 * `finding: RULE` is where the finding must be. `defects clean` runs all twins, those of the rule `race` if
 * there are three ranks. */
#include "cases.h"

static bool is_clean(const char *name)
{
    return strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "_clean");
}

static void run_clean(void)
{
    for (const struct a_case *c = cases; c->name; c++)
        if (is_clean(c->name) && !strncmp(c->name, "race", 4) == (ranks == 3)) {
            c->run();
            MPI_Barrier(W);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    peer = rank ^ 1;
    const char *wanted = argc > 1 ? argv[1] : "";
    bool is_found = !strcmp(wanted, "clean");
    if (is_found)
        run_clean();
    for (const struct a_case *c = cases; c->name; c++)
        if (!strcmp(c->name, wanted)) {
            c->run();
            is_found = true;
        }
    MPI_Finalize();
    return is_found ? 0 : 2;
}
