#include "host/operator.h"
#include "host/hash.h"
#include <string.h>

enum { TABLE_BITS = 6, TABLE_SIZE = 1 << TABLE_BITS };

/* From handle to number; handle 0 marks a free place. */
static struct {
    uintptr_t handle;
    int number;
} table[TABLE_SIZE];

/* The classes of types that the standard admits for each. */
static const struct {
    const char *name;
    const char *classes;
} predefined[EK_OPERATORS] = {
    {"max", "iuf"},  {"min", "iuf"},  {"sum", "iufc"}, {"prod", "iufc"}, {"land", "iul"}, {"lor", "iul"},
    {"lxor", "iul"}, {"band", "iub"}, {"bor", "iub"},  {"bxor", "iub"},  {"minloc", "p"}, {"maxloc", "p"},
};

static void add(MPI_Op op, int number)
{
    size_t at = ek_hash((uintptr_t)op, TABLE_BITS);
    while (table[at].handle)
        at = (at + 1) % TABLE_SIZE;
    table[at].handle = (uintptr_t)op;
    table[at].number = number;
}

void ek_operators_open(void)
{
    const MPI_Op handles[EK_OPERATORS] = {MPI_MAX,  MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_LOR,
                                          MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    for (int number = 0; number < EK_OPERATORS; number++)
        add(handles[number], number);
    add(MPI_REPLACE, EK_OPERATOR_UNSERVED);
    add(MPI_NO_OP, EK_OPERATOR_UNSERVED);
}

int ek_operator_of(MPI_Op op)
{
    uintptr_t handle = (uintptr_t)op;
    if (EK_UNLIKELY(!handle))
        return EK_OPERATOR_UNSERVED;
    for (size_t at = ek_hash(handle, TABLE_BITS);; at = (at + 1) % TABLE_SIZE) {
        if (table[at].handle == handle)
            return table[at].number;
        if (!table[at].handle)
            return op == ek_handles.op_null ? EK_OPERATOR_UNSERVED : EK_OPERATOR_CUSTOM;
    }
}

const char *ek_operator_name(int number) { return predefined[number].name; }

bool ek_operator_fits(int number, char type_class)
{
    return type_class && strchr(predefined[number].classes, type_class);
}
