/* The C library's `syscall`, interposed: a program may make mappings, threads and handlers by it. It goes on
 * to the C library by a jump, as a child of `clone` may come back on another stack. */
#define _GNU_SOURCE
#include "gate/system_calls.h"

#ifdef EK_CAN_CATCH_SYSTEM_CALLS
#include "gate/channels.h"
#include "gate/handler_rules.h"
#include "gate/memory.h"
#include "gate/origin.h"
#include "host/hints.h"
#include <sched.h>
#include <sys/syscall.h>

enum { IO_URING_SETUP = 425, CLONE3 = 435 }; /* older headers lack them */

/* Called by the code below only. */
void ek_note_system_call(long number, const long *arguments, const void *caller);
void ek_find_syscall(void);
extern EK_HIDDEN void *ek_next_syscall;

void *ek_next_syscall;
void ek_find_syscall(void) { ek_next_syscall = dlsym(RTLD_NEXT, "syscall"); }

static bool makes_thread(long number, const long *arguments)
{
    unsigned long flags = 0;
    if (number == SYS_io_setup || number == IO_URING_SETUP)
        return true; /* the kernel works for the program by itself */
    if (number == SYS_clone)
        flags = (unsigned long)arguments[0];
    if (number == CLONE3 && arguments[0])
        flags = *(const unsigned long *)arguments[0]; /* the first member of struct clone_args */
    return (flags & CLONE_VM) && !(flags & CLONE_VFORK);
}

void ek_note_system_call(long number, const long *arguments, const void *caller)
{
    if (number == SYS_rt_sigaction && arguments[1]) {
        const void *handler = *(const void *const *)arguments[1]; /* the first member of its struct */
        ek_note_handler((int)arguments[0], handler, caller, "syscall");
    }
    bool shares = number == SYS_shmat || (number == SYS_mmap && ek_mapping_is_shared((int)arguments[3]));
    if (shares && ek_is_program(caller))
        ek_channel_open(EK_CHANNEL_SHARED_MEMORY, "syscall");
    if (number == SYS_madvise && ek_gives_back((int)arguments[2]) && ek_is_program(caller))
        ek_memory_given_back((size_t)arguments[1]);
    if (number == SYS_sched_setaffinity && ek_is_program(caller))
        ek_affinity_is_set();
    if (makes_thread(number, arguments) && ek_is_program(caller))
        ek_channel_open(EK_CHANNEL_THREADS, "syscall");
}

/* clang-format off */

/* The saved registers are the number and the arguments in their order; behind them is the address of the
 * caller. */
#define CALL(function)             \
    "    sub $8, %rsp\n"           \
    "    push %r9\n"               \
    "    push %r8\n"               \
    "    push %rcx\n"              \
    "    push %rdx\n"              \
    "    push %rsi\n"              \
    "    push %rdi\n"              \
    "    lea 8(%rsp), %rsi\n"      \
    "    mov 56(%rsp), %rdx\n"     \
    "    call " function "\n"      \
    "    pop %rdi\n"               \
    "    pop %rsi\n"               \
    "    pop %rdx\n"               \
    "    pop %rcx\n"               \
    "    pop %r8\n"                \
    "    pop %r9\n"                \
    "    add $8, %rsp\n"

#define NOTE_IF(number)            \
    "    cmp $" #number ", %rdi\n" \
    "    je 1f\n"

__asm__(".pushsection .text\n"
        ".hidden ek_note_system_call, ek_find_syscall, ek_next_syscall\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        ".balign 16\n"
        "syscall:\n"
        NOTE_IF(9)   /* mmap */
        NOTE_IF(13)  /* rt_sigaction */
        NOTE_IF(28)  /* madvise */
        NOTE_IF(30)  /* shmat */
        NOTE_IF(56)  /* clone */
        NOTE_IF(203) /* sched_setaffinity */
        NOTE_IF(206) /* io_setup */
        NOTE_IF(425) /* io_uring_setup */
        NOTE_IF(435) /* clone3 */
        "2:  mov ek_next_syscall(%rip), %r11\n"
        "    test %r11, %r11\n"
        "    je 3f\n"
        "    jmp *%r11\n"
        "1:\n"
        CALL("ek_note_system_call")
        "    jmp 2b\n"
        "3:\n"
        CALL("ek_find_syscall")
        "    jmp 2b\n"
        ".size syscall, .-syscall\n"
        ".popsection\n");
/* clang-format on */

#endif
