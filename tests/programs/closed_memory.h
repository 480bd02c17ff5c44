/* Takes from other processes the right, or from this one the means, to read another process's memory. */
#ifndef EVENKEEL_TESTS_CLOSED_MEMORY_H
#define EVENKEEL_TESTS_CLOSED_MEMORY_H
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From now on process_vm_readv fails in this process. */
static inline int forbid_reading(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* From now on no process without privileges may read this one. */
static inline int forbid_readers(void)
{
    /* A privileged process may read all others, so this one gives that up. */
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets))
        return -1;
    sets[0].effective &= ~(1u << CAP_SYS_PTRACE);
    sets[0].permitted &= ~(1u << CAP_SYS_PTRACE);
    return syscall(SYS_capset, &header, sets) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ? -1 : 0;
}

/* how: setuid (each rank another user), dumpable or seccomp. */
static inline void close_memory(const char *how, int rank)
{
    int failed = !strcmp(how, "setuid")     ? setuid((uid_t)(60000 + rank))
                 : !strcmp(how, "dumpable") ? forbid_readers()
                 : !strcmp(how, "seccomp")  ? forbid_reading()
                                            : -1;
    if (failed) {
        fprintf(stderr, "FAIL rank %d: %s: %s\n", rank, how, strerror(errno));
        exit(1);
    }
}
#endif
