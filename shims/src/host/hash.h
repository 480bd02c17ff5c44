/* A hash for tables whose size is a power of two. */
#ifndef EK_HOST_HASH_H
#define EK_HOST_HASH_H
#include <stddef.h>
#include <stdint.h>

/* The upper bits of a product with 2^64 divided by the golden ratio (Knuth, volume 3, section 6.4). */
static inline size_t ek_hash(uintptr_t key, unsigned bits)
{
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits));
}

#endif
