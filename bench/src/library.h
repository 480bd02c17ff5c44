/* The name of the MPI library. Uses MPI. */
#ifndef BENCH_LIBRARY_H
#define BENCH_LIBRARY_H
#include <mpi.h>

/* The library's name and version, with the characters replaced that JSON would need escaped. */
static inline void library_name(char name[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length;
    MPI_Get_library_version(name, &length);
    for (char *c = name; *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '"' || *c == '\\')
            *c = ' ';
}
#endif
