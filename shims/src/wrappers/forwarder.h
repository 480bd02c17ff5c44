/* Wrappers of functions whose parameters need not be known: they complete pending barriers and go on to the
 * host by a jump, which leaves the arguments where they are. */
#ifndef EK_WRAPPERS_FORWARDER_H
#define EK_WRAPPERS_FORWARDER_H

typedef struct ek_forwarder {
    void *next;        /* must stand first: the code jumps through it */
    const char *name;  /* MPI_X */
    const char *entry; /* MPI_X or PMPI_X */
    void *timed;       /* goes on to `host`, and notes when; NULL: there is none */
    void *host;
} ek_forwarder;

/* Functions that are forwarded, and after which the repetition of a trace is not promised to be equal. */
extern const char *const ek_unpromised_names[] __attribute__((visibility("hidden")));

/* Called by the assembler code only. */
void ek_forwarder_resolve(ek_forwarder *);
void ek_forwarder_complete_deferred(const ek_forwarder *);
extern const char ek_forwarder_first[] __attribute__((visibility("hidden")));

#ifdef __x86_64__
/* What takes the host's place while calls are timed: `timed_<entry>`, with `host` in it. */
#define EK_TIMED_FORWARDER(entry, parameters) \
    extern ek_forwarder ek_forwarder_##entry; \
    static int timed_##entry parameters
#define EK_FORWARDER_HOST(entry, parameters) \
    int(*const host) parameters = (int(*) parameters)ek_forwarder_##entry.host

/* The entry point `entry` (MPI_X or PMPI_X) of the function `name` (MPI_X). */
#define EK_FORWARD(entry_, name_, timed_)                                                              \
    ek_forwarder ek_forwarder_##entry_ = {(void *)ek_forwarder_first, #name_, #entry_, (void *)timed_, \
                                          NULL};                                                       \
    __asm__(".pushsection .text\n"                                                                     \
            ".hidden ek_gate, ek_forwarder_pending, ek_forwarder_" #entry_ "\n"                        \
            ".globl " #entry_ "\n"                                                                     \
            ".type " #entry_ ", @function\n"                                                           \
            ".balign 16\n" #entry_ ":\n"                                                               \
            "    lea ek_forwarder_" #entry_ "(%rip), %r11\n"                                           \
            "    cmpb $0, ek_gate(%rip)\n"                                                             \
            "    jne ek_forwarder_pending\n"                                                           \
            "    jmp *(%r11)\n"                                                                        \
            ".size " #entry_ ", .-" #entry_ "\n"                                                       \
            ".popsection\n");
#else
#define EK_TIMED_FORWARDER(entry, parameters) static __attribute__((unused)) int timed_##entry parameters
#define EK_FORWARDER_HOST(entry, parameters) int(*const host) parameters = NULL
#define EK_FORWARD(entry, name, timed)
#endif
#endif
