/* What happens around a call of an allocator while barriers are pending. */
#ifndef EK_GATE_ALLOCATION_H
#define EK_GATE_ALLOCATION_H
#include <stdbool.h>

typedef struct ek_allocation {
    int error; /* errno before it */
    bool is_owners;
} ek_allocation;

ek_allocation ek_allocation_begin(void);

/* Completes pending barriers if the allocator could not get memory. Returns true if it is to be called again.
 */
bool ek_allocation_end(const ek_allocation *allocation, bool failed, const char *name);

#endif
