/* The predefined operators of reductions, by numbers of the shim's own. */
#ifndef EK_HOST_OPERATOR_H
#define EK_HOST_OPERATOR_H
#include "host/library.h"
#include <stdbool.h>

enum {
    EK_OPERATORS = 12,         /* how many are predefined; their numbers are below */
    EK_OPERATOR_CUSTOM = -1,   /* the program's own */
    EK_OPERATOR_UNSERVED = -2, /* none that evenkeel serves */
};

/* Fills the table of handles; once, when the host is up. */
void ek_operators_open(void);

/* The number of an operator. */
int ek_operator_of(MPI_Op);

/* The engine's name for a predefined operator: "sum". */
const char *ek_operator_name(int number);

/* Whether the standard admits a predefined operator for a class of types (see ek_type). */
bool ek_operator_fits(int number, char type_class);

#endif
