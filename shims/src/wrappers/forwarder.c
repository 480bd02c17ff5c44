/* Wrappers that need not know a function's parameters: "complete what is pending, then go on to the host", as
 * a jump. */
#include "shim.h"
#include "wrappers/forwarder.h"

#ifdef __x86_64__

void ek_thunk_resolve(struct ek_thunk *thunk)
{
    ek_resolve();
    thunk->next = ek_host_function(thunk->entry);
    if (!thunk->next)
        ek_missing(thunk->entry);
}

void ek_thunk_observe(const struct ek_thunk *thunk) { ek_observed(thunk->name, 0); }

/* Registers that may hold arguments are kept; r11 is the thunk and free to use at a call. No MPI function of
 * C takes floating-point arguments. */
#define STEP(name, function)                                                                               \
    ".hidden " name "\n.globl " name "\n.type " name ", @function\n" name ":\n"                            \
    "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n    push "    \
    "%r11\n"                                                                                               \
    "    mov %r11, %rdi\n    call " function "\n"                                                          \
    "    pop %r11\n    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n    " \
    "jmp *(%r11)\n"

__asm__(".pushsection .text\n.hidden ek_thunk_resolve, ek_thunk_observe\n" STEP("ek_thunk_first",
                                                                                "ek_thunk_resolve")
            STEP("ek_thunk_slow", "ek_thunk_observe") ".popsection\n");

#endif
