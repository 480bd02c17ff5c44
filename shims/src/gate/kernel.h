/* System calls of the shim's own, without the C library's `syscall`, which the shim interposes to see those
 * of the program. While the gate is closed they are caught like any other. */
#ifndef EK_GATE_KERNEL_H
#define EK_GATE_KERNEL_H
#include <errno.h>
#include <signal.h>

#ifdef __x86_64__
enum { EK_SIGNAL_SET_BYTES = 8 };

/* The kernel's own layout of struct sigaction. */
typedef struct ek_kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
} ek_kernel_action;

/* Returns what the kernel returns: a negative error number if the call failed. */
static inline long ek_kernel(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long answer;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return answer;
}

/* The same as a function of the C library answers. */
static inline long ek_kernel_or_errno(long number, long a, long b, long c, long d, long e, long f)
{
    enum { LARGEST_ERROR = 4095 };
    long answer = ek_kernel(number, a, b, c, d, e, f);
    if (answer >= 0 || answer < -LARGEST_ERROR)
        return answer;
    errno = (int)-answer;
    return -1;
}
#endif
#endif
