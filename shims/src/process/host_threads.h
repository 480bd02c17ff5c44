/* The threads that the host has made in MPI_Init. They send no messages of the program's. */
#ifndef EK_PROCESS_HOST_THREADS_H
#define EK_PROCESS_HOST_THREADS_H
#include <stdint.h>

enum { EK_HOST_THREADS = 64 };

typedef struct ek_host_threads {
    uint64_t until; /* CLOCK_BOOTTIME in ns when MPI_Init was over; a later thread may get a number again */
    uint64_t count;
    int32_t ids[EK_HOST_THREADS];
} ek_host_threads;

/* Before the host's MPI_Init is called. */
void ek_host_threads_before(void);

/* After it. Threads that find no room count as the program's. */
const ek_host_threads *ek_host_threads_after(void);

#endif
