#include "host/type_contents.h"
#include <stdlib.h>

enum { MOST_NUMBERS = 1 << 18 };

bool ek_type_envelope(MPI_Datatype type, ek_type_contents *c)
{
    *c = (ek_type_contents){0};
#ifdef EK_HAS_Pack_c
    return !ek_host.Type_get_envelope_c(type, &c->ints, &c->addresses, &c->counts, &c->types, &c->combiner);
#else
    int ints, addresses, types;
    if (ek_host.Type_get_envelope(type, &ints, &addresses, &types, &c->combiner))
        return false;
    c->ints = ints;
    c->addresses = addresses;
    c->types = types;
    return true;
#endif
}

void ek_type_contents_drop(ek_type_contents *c)
{
    free(c->an_int);
    free(c->an_address);
    free(c->a_count);
    free(c->a_type);
}

/* After ek_type_envelope. The contents must be dropped in any case, and if this succeeds the types freed. */
bool ek_type_contents_of(MPI_Datatype type, ek_type_contents *c)
{
    if (c->ints + c->addresses + c->counts + c->types > MOST_NUMBERS)
        return false;
    c->an_int = malloc(sizeof *c->an_int * (size_t)(c->ints + 1));
    c->an_address = malloc(sizeof *c->an_address * (size_t)(c->addresses + 1));
    c->a_count = malloc(sizeof *c->a_count * (size_t)(c->counts + 1));
    c->a_type = malloc(sizeof *c->a_type * (size_t)(c->types + 1));
    if (!c->an_int || !c->an_address || !c->a_count || !c->a_type)
        return false;
#ifdef EK_HAS_Pack_c
    return !ek_host.Type_get_contents_c(type, c->ints, c->addresses, c->counts, c->types, c->an_int,
                                        c->an_address, c->a_count, c->a_type);
#else
    return !ek_host.Type_get_contents(type, (int)c->ints, (int)c->addresses, (int)c->types, c->an_int,
                                      c->an_address, c->a_type);
#endif
}

/* Types of the contents are new handles, except those that are predefined. */
void ek_type_free_inner(MPI_Datatype type)
{
    ek_type_contents c;
    if (ek_type_envelope(type, &c) && c.combiner != MPI_COMBINER_NAMED &&
        c.combiner != MPI_COMBINER_F90_REAL && c.combiner != MPI_COMBINER_F90_COMPLEX &&
        c.combiner != MPI_COMBINER_F90_INTEGER)
        ek_host.Type_free(&type);
}
