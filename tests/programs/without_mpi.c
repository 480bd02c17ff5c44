/* Not an MPI program at all. */
#include <stdio.h>
int main(void)
{
    puts("no MPI here");
    return 5;
}
