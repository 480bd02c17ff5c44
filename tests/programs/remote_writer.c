/* A library that writes into the memory of other processes. It also defines WRITER_NAME, as a library for a
 * network card would: that is how evenkeel knows such libraries. */
#define _GNU_SOURCE
#include <sys/uio.h>

#ifndef WRITER_NAME
#define WRITER_NAME shmem_init
#endif

void WRITER_NAME(void) {}

int write_remotely(int pid, void *address, long value)
{
    const struct iovec here = {&value, sizeof value}, there = {address, sizeof value};
    return process_vm_writev(pid, &here, 1, &there, 1, 0) != sizeof value;
}
