/* A program that does not use MPI. */
#include <stdio.h>
int main(void)
{
    puts("no MPI here");
    return 5;
}
