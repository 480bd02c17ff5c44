/* A stand-in for an accelerator's driver and for an MPI library that knows it: preloaded behind evenkeel's
 * shim.
 *
 * Device memory is memory that the processor must not touch. The functions of MPI below open it for the
 * library underneath as long as they run, as a library would copy it. DRIVER_QUERY is the driver's function
 * by which libraries ask about pointers. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef DRIVER_QUERY
#define DRIVER_QUERY cuPointerGetAttribute
#endif

enum { BYTES = 1 << 20, DEVICES_OWN = 2, NOT_THE_DEVICES = 1 };
static char *memory;

int DRIVER_QUERY(void *answer, int attribute, uintptr_t pointer)
{
    (void)attribute;
    *(unsigned *)answer = DEVICES_OWN;
    return pointer - (uintptr_t)memory < BYTES ? 0 : NOT_THE_DEVICES;
}

/* All device memory of this process. */
void *device_memory(void)
{
    if (!memory)
        memory = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory;
}

void device_open(void) { mprotect(device_memory(), BYTES, PROT_READ | PROT_WRITE); }
void device_close(void) { mprotect(device_memory(), BYTES, PROT_NONE); }

#define KNOWS_DEVICES(name, parameters, arguments) \
    int MPI_##name parameters                      \
    {                                              \
        device_open();                             \
        int code = PMPI_##name arguments;          \
        device_close();                            \
        return code;                               \
    }
KNOWS_DEVICES(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
              (b, n, t, to, tag, c))
KNOWS_DEVICES(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
              (b, n, t, from, tag, c, s))
KNOWS_DEVICES(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
KNOWS_DEVICES(Reduce, (const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
              (in, out, n, t, op, root, c))
KNOWS_DEVICES(Allreduce, (const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
              (in, out, n, t, op, c))
KNOWS_DEVICES(Alltoall, (const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm c),
              (in, n, t, out, m, u, c))
