/* Programs that break a rule of MPI, each beside a twin that keeps it: `defects CASE`. A line with a comment
 * `finding: RULE` (with the case before it) is where the finding must be. */
#include "cases.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    peer = rank ^ 1;
    for (const struct a_case *c = cases; c->name; c++)
        if (argc > 1 && !strcmp(c->name, argv[1])) {
            c->run();
            MPI_Finalize();
            return 0;
        }
    fprintf(stderr, "no such case\n");
    MPI_Finalize();
    return 2;
}
