/* For the generated wrappers of functions of which nothing is known but their names. */
#ifndef EVENKEEL_THUNK_H
#define EVENKEEL_THUNK_H

struct ek_thunk {
    void *next;        /* must stand first: the code jumps through it */
    const char *name;  /* MPI_X */
    const char *entry; /* MPI_X or PMPI_X */
};

void ek_thunk_resolve(struct ek_thunk *);
void ek_thunk_observe(const struct ek_thunk *);
extern const char ek_thunk_first[] __attribute__((visibility("hidden")));

#ifdef __x86_64__
#define EK_THUNK_(entry_, name_, rest)                                                        \
    struct ek_thunk ek_thunk_##entry_ = {(void *)ek_thunk_first, #name_, #entry_};            \
    __asm__(".pushsection .text\n.hidden ek_gate, ek_thunk_slow, ek_thunk_" #entry_ "\n"      \
            ".globl " #entry_ "\n.type " #entry_ ", @function\n.balign 16\n" #entry_ ":\n"    \
            "    lea ek_thunk_" #entry_ "(%rip), %r11\n" rest ".size " #entry_ ", .-" #entry_ \
            "\n.popsection\n");
/* Completes what is pending, if anything is. */
#define EK_THUNK(entry, name) \
    EK_THUNK_(entry, name, "    cmpb $0, ek_gate(%rip)\n    jne ek_thunk_slow\n    jmp *(%r11)\n")
#else
#define EK_THUNK(entry, name)
#endif
#endif
