#include "wrappers/forwarder.h"
#include "evenkeel.h"
#include "host/library.h"
#include "process/call_line.h"
#include "process/state.h"
#include "trace/state.h"
#include <string.h>

#ifdef __x86_64__

/* Functions that hand the host a function of the program's, which it may call from within any other call. The
 * callbacks of operators, attributes and files are not among them: what uses those completes pending barriers
 * anyway. */
static const char *const takers[] = {"MPI_Comm_create_errhandler",
                                     "MPI_Win_create_errhandler",
                                     "MPI_File_create_errhandler",
                                     "MPI_Session_create_errhandler",
                                     "MPI_Errhandler_create",
                                     "MPI_Errhandler_set",
                                     "MPI_Grequest_start",
                                     "MPI_T_event_register_callback",
                                     NULL};

/* Parts of names of functions that start what the host's counted requests and messages do not hold: requests
 * of other kinds, and messages of other worlds. */
static const char *const uncounted[] = {"_init",
                                        "MPI_Ineighbor",
                                        "MPI_Rput",
                                        "MPI_Rget",
                                        "MPI_Raccumulate",
                                        "MPI_File_i",
                                        "MPI_Grequest_start",
                                        "MPI_Session_",
                                        "MPI_Comm_get_parent",
                                        NULL};

void ek_forwarder_resolve(ek_forwarder *f)
{
    for (const char *const *part = uncounted; *part; part++)
        if (strstr(f->name, *part))
            ek_count_uncountable();
    for (const char *const *taker = takers; *taker; taker++)
        if (!strcmp(f->name, *taker))
            ek_process.calls_back = true;
    for (const char *const *name = ek_unpromised_names; *name; name++)
        if (!strcmp(f->name, *name))
            ek_trace_note_unpromised(f->name);
    f->host = ek_host_definition(f->entry);
    f->next = f->timed && ek_times_wanted() ? f->timed : f->host;
}

void ek_forwarder_complete_deferred(const ek_forwarder *f) { ek_complete_deferred(f->name, false); }

/* The code at `label` calls `function` with the forwarder and goes on to the host. The forwarder is in r11,
 * which is free to use at a call. Registers that may hold arguments are kept; no MPI function of C takes
 * floating-point arguments. */
#define STEP(label, function)                                                                  \
    ".hidden " label "\n.globl " label "\n.type " label ", @function\n" label ":\n"            \
    "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n" \
    "    push %r11\n"                                                                          \
    "    mov %r11, %rdi\n    call " function "\n"                                              \
    "    pop %r11\n"                                                                           \
    "    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"       \
    "    jmp *(%r11)\n"

__asm__(".pushsection .text\n"
        ".hidden ek_forwarder_resolve, ek_forwarder_complete_deferred\n" STEP("ek_forwarder_first",
                                                                              "ek_forwarder_resolve")
            STEP("ek_forwarder_pending", "ek_forwarder_complete_deferred") ".popsection\n");

#endif
