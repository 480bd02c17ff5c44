/* Where a Python program calls MPI, for checks: mpi4py's own code is the same place for all calls. */
#ifndef EK_TRACE_SCRIPT_H
#define EK_TRACE_SCRIPT_H
#include <stdbool.h>
#include <stdint.h>

typedef struct ek_script_place {
    char file[1024], function[256];
    uint32_t line;
} ek_script_place;

/* Whether a call that returns to this address is a script's, and where in the script it is. */
bool ek_script_find(const void *site, ek_script_place *);

#endif
