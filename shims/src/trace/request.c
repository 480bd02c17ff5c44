#include "trace/request.h"
#include "host/hash.h"
#include <stdlib.h>

enum { TABLE_BITS = 10 };

static ek_traced_request *table[1 << TABLE_BITS];
static ek_traced_request *unused;
static size_t number;

static ek_traced_request **place(MPI_Request handle)
{
    ek_traced_request **at = &table[ek_hash((uintptr_t)handle, TABLE_BITS)];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

ek_traced_request *ek_traced_request_of(MPI_Request handle) { return number ? *place(handle) : NULL; }

/* Frees what it owns. */
static void drop(ek_traced_request *r)
{
    if (r->owns_type)
        ek_host.Type_free(&r->type);
    ek_traced_type_drop(&r->elements);
    ek_traced_blocks_drop(r->contribution);
    ek_traced_blocks_drop(r->result);
}

ek_traced_request *ek_traced_request_add(MPI_Request handle)
{
    ek_traced_request **at = place(handle), *r = *at;
    if (!r) {
        r = unused;
        if (r)
            unused = r->next;
        else if (!(r = malloc(sizeof *r)))
            return NULL;
        *at = r;
        number++;
    } else {
        drop(r);
    }
    *r = (ek_traced_request){.handle = handle, .is_active = true, .inner = ek_handles.request_null};
    return r;
}

void ek_traced_request_remove(ek_traced_request *r)
{
    ek_traced_request **at = place(r->handle);
    drop(r);
    *at = r->next;
    r->next = unused;
    unused = r;
    number--;
}

bool ek_traced_requests_exist(void) { return number > 0; }

void ek_traced_requests_visit(void (*visit)(ek_traced_request *))
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (ek_traced_request *r = table[i], *next; r; r = next) {
            next = r->next;
            visit(r);
        }
}
