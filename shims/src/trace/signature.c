#include "trace/signature.h"
#include "evenkeel.h"
#include "host/datatype.h"
#include "host/type_contents.h"
#include "process/state.h"
#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 24, MOST_PARTS = 1 << 14, NAME = MPI_MAX_OBJECT_NAME + 8 };

static bool signature(MPI_Datatype, int depth, uint32_t *elements);

/* A predefined type: its class, as of ek_type, and its name. */
static bool named(MPI_Datatype type, const char *kind, uint32_t *elements)
{
    ek_type scratch;
    const ek_type *known = ek_type_of(type, &scratch);
    char name[NAME] = "", library_name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    if (!known || known->layout.size < 0)
        return false;
    if (!kind)
        ek_host.Type_get_name(type, library_name, &length);
    char type_class = kind ? kind[0] : known->predefined && known->type_class ? known->type_class : 'n';
    snprintf(name, sizeof name, "%c:%s", type_class, kind ? kind + 2 : library_name);
    *elements = ek_checks_named_element(name, (uint64_t)known->layout.size);
    return true;
}

/* A structure has a type for each of its blocks. */
static bool structure(const ek_type_contents *c, int depth, uint32_t *elements)
{
    bool is_known = c->types <= MOST_PARTS;
    uint64_t *times = calloc((size_t)c->types + 1, sizeof *times);
    uint32_t *parts = calloc((size_t)c->types + 1, sizeof *parts);
    is_known &= times && parts;
    for (MPI_Count i = 0; is_known && i < c->types; i++) {
        times[i] = c->counts ? (uint64_t)c->a_count[1 + i] : (uint64_t)c->an_int[1 + i];
        is_known = signature(c->a_type[i], depth + 1, &parts[i]);
    }
    if (is_known)
        *elements = ek_checks_sequence(times, parts, (size_t)c->types);
    free(times);
    free(parts);
    return is_known;
}

/* All other constructors repeat one type. */
static bool repetition(MPI_Datatype type, MPI_Datatype inner, int depth, uint32_t *elements)
{
    MPI_Count size = 0, inner_size = 0;
    uint32_t part;
    if (ek_host.Type_size_x(type, &size) || ek_host.Type_size_x(inner, &inner_size) || size < 0 ||
        !signature(inner, depth + 1, &part))
        return false;
    uint64_t times = inner_size > 0 ? (uint64_t)(size / inner_size) : 0;
    *elements = ek_checks_sequence(&times, &part, 1);
    return true;
}

static bool signature(MPI_Datatype type, int depth, uint32_t *elements)
{
    ek_type_contents c;
    if (depth > DEEPEST || !ek_type_envelope(type, &c))
        return false;
    switch (c.combiner) {
    case MPI_COMBINER_NAMED: return named(type, NULL, elements);
    case MPI_COMBINER_F90_REAL: return named(type, "f:MPI_Type_create_f90_real", elements);
    case MPI_COMBINER_F90_COMPLEX: return named(type, "c:MPI_Type_create_f90_complex", elements);
    case MPI_COMBINER_F90_INTEGER: return named(type, "i:MPI_Type_create_f90_integer", elements);
    default: break;
    }
    bool is_known = false;
    if (ek_type_contents_of(type, &c)) {
        if (c.combiner == MPI_COMBINER_STRUCT)
            is_known = structure(&c, depth, elements);
        else if (c.types == 1)
            is_known = repetition(type, c.a_type[0], depth, elements);
        for (MPI_Count i = 0; i < c.types; i++)
            ek_type_free_inner(c.a_type[i]);
    }
    ek_type_contents_drop(&c);
    return is_known;
}

bool ek_signature_of(MPI_Datatype type, uint32_t *elements)
{
    ek_depth++;
    bool is_known = signature(type, 0, elements);
    ek_depth--;
    return is_known;
}
