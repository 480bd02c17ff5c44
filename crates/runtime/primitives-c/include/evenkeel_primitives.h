/* The three global primitives on sets of nodes, over UCX. Link with -levenkeel_primitives_c.
 *
 * What they do and what may be relied upon is said in the book, "Sets of nodes: three primitives". A node
 * opens, tells the others its address by whatever means it has (MPI, PMIx, a file), connects when it knows
 * all addresses, and closes. One thread at a time may use a node. Nothing goes on at a node but in calls of
 * these functions: a node that has nothing to call calls evenkeel_serve.
 *
 * Functions return
 *     EVENKEEL_YES      done; or: it holds, there was a signal
 *     EVENKEEL_NO       it does not hold; or: there was none in time
 *     EVENKEEL_FAULT    a node failed: *fault says which
 *     EVENKEEL_MISTAKE  the call makes no sense, or UCX is not there: evenkeel_last_error says why
 */
#ifndef EVENKEEL_PRIMITIVES_H
#define EVENKEEL_PRIMITIVES_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EVENKEEL_YES = 1, EVENKEEL_NO = 0, EVENKEEL_FAULT = -1, EVENKEEL_MISTAKE = -2 };

/* How a variable is compared with a value: variable < value, and so on. Unsigned. */
typedef enum {
    EVENKEEL_LESS,
    EVENKEEL_LESS_OR_EQUAL,
    EVENKEEL_EQUAL,
    EVENKEEL_NOT_EQUAL,
    EVENKEEL_GREATER_OR_EQUAL,
    EVENKEEL_GREATER
} evenkeel_comparison;

typedef struct {
    uint32_t node; /* which failed */
    int undone; /* 1: the operation is carried out nowhere; 0: everywhere or nowhere, which is not known here
                 */
} evenkeel_fault;

typedef struct {
    size_t at;
    uint64_t value;
} evenkeel_write;

/* No event. Others are numbered from 0 as the program likes. */
#define EVENKEEL_NO_EVENT (-1)

typedef struct evenkeel_opened evenkeel_opened; /* a node that does not know the others */
typedef struct evenkeel_node evenkeel_node;

/* memory_bytes: what the primitives read and write, the same at all nodes; zero at first. */
int evenkeel_open(uint32_t nodes, size_t memory_bytes, evenkeel_opened **opened);
/* Valid until evenkeel_connect. */
const void *evenkeel_address(const evenkeel_opened *opened, size_t *length);
/* Addresses of all nodes in order, one's own among them. Consumes `opened` in any case. limit_ms: silence
 * after which a node has failed; 0: 2000. */
int evenkeel_connect(evenkeel_opened *opened, uint32_t node, uint32_t nodes, const void *const *addresses,
                     const size_t *lengths, uint64_t limit_ms, evenkeel_node **connected);
void evenkeel_close(evenkeel_node *node);

/* Writes at `at` of all nodes of the set, and signals the event `remote` there. Does not wait; the bytes can
 * be used again at once. The event `local` is signalled here when it is done; if it fails,
 * evenkeel_test_event of it says so. */
int evenkeel_xfer_and_signal(evenkeel_node *node, const uint32_t *set, size_t count, size_t at,
                             const void *bytes, size_t length, int64_t local, int64_t remote);
/* Takes one signal; waits so long for it at most. */
int evenkeel_test_event(evenkeel_node *node, uint32_t event, uint64_t longest_ms, evenkeel_fault *fault);
/* If the word at `variable` compares so with `value` at all nodes of the set, writes *write (or nothing, if
 * null) at all. Waits. */
int evenkeel_compare_and_write(evenkeel_node *node, const uint32_t *set, size_t count, size_t variable,
                               evenkeel_comparison comparison, uint64_t value, const evenkeel_write *write,
                               evenkeel_fault *fault);

/* This node's own bytes. EVENKEEL_NO: after so long it is still in doubt what they are. */
int evenkeel_read(evenkeel_node *node, size_t at, void *to, size_t length, uint64_t longest_ms);
/* Sets a word of this node's own that others compare and no operation writes. */
int evenkeel_set(evenkeel_node *node, size_t at, uint64_t value);
/* Does the others' work for so long at most. */
int evenkeel_serve(evenkeel_node *node, uint64_t longest_ms);
/* A node is dead for good: nothing waits for it any more. To be said at all nodes. */
int evenkeel_evict(evenkeel_node *node, uint32_t dead);

/* Why the last call of this thread was a mistake. */
const char *evenkeel_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
