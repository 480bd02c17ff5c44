/* Three global primitives on sets of nodes, over UCX: write a block on all nodes and signal an event there
 * (xfer_and_signal), test an event of this node (test_event), compare a variable of all nodes and write
 * another one on all if the comparison holds (compare_and_write). Link with -levenkeel_primitives_c.
 *
 * An operation is carried out on all nodes of its set or on none, and all operations behave as if carried out
 * one after the other, whatever the network loses and whichever nodes stop or die. The book explains what is
 * guaranteed, and how ("Primitives on node sets").
 *
 * A node's life:
 *
 *     evenkeel_open         makes this node's end
 *     evenkeel_address      gives its address, which the program passes to all other nodes by any means it
 * has (MPI, PMIx, a file) evenkeel_connect      takes the addresses of all nodes
 *     ...                   the operations below
 *     evenkeel_close        ends it
 *
 * One thread at a time may use a node. Nothing happens at a node except within calls of these functions: a
 * node that has nothing to call must call evenkeel_serve, or the operations of other nodes wait for it.
 *
 * Functions return, unless they say otherwise,
 *
 *     EVENKEEL_YES          it is done; or: it holds, there was a signal
 *     EVENKEEL_NO           it does not hold; or: there was no signal in time
 *     EVENKEEL_NODE_FAILED  a node failed; *failure says which one
 *     EVENKEEL_ERROR        the call is invalid, or UCX is missing; evenkeel_last_error says why
 *
 * Pointers must be valid unless a comment allows NULL. */
#ifndef EVENKEEL_PRIMITIVES_H
#define EVENKEEL_PRIMITIVES_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EVENKEEL_YES = 1, EVENKEEL_NO = 0, EVENKEEL_NODE_FAILED = -1, EVENKEEL_ERROR = -2 };

/* How a variable is compared with a value: variable < value, and so on. Both are unsigned. */
typedef enum {
    EVENKEEL_LESS,
    EVENKEEL_LESS_OR_EQUAL,
    EVENKEEL_EQUAL,
    EVENKEEL_NOT_EQUAL,
    EVENKEEL_GREATER_OR_EQUAL,
    EVENKEEL_GREATER
} evenkeel_comparison;

/* A node that failed, and what that means for the operation. */
typedef struct {
    uint32_t node; /* the node that failed */
    int undone;    /* 1: the operation is carried out on no node, now or later.
                    * 0: it is carried out on all nodes or on none; which of the two cannot be known here. */
} evenkeel_failure;

/* A value for a variable. */
typedef struct {
    size_t at; /* offset in global memory, a multiple of 8 */
    uint64_t value;
} evenkeel_word_write;

/* In place of an event: none. Events are numbered from 0 to UINT32_MAX; the program chooses the numbers. */
#define EVENKEEL_NO_EVENT (-1)

/* A node that does not know the other nodes yet. */
typedef struct evenkeel_unconnected evenkeel_unconnected;

/* A node that is connected to the other nodes. */
typedef struct evenkeel_node evenkeel_node;

/* Makes this node's end of a job of so many nodes. memory_bytes: size of global memory, which the primitives
 * read and write. It must be the same at all nodes, and is zero at first. */
int evenkeel_open(uint32_t nodes, size_t memory_bytes, evenkeel_unconnected **unconnected);

/* The address of this node, of *length bytes: some hundreds. Valid until evenkeel_connect. */
const void *evenkeel_address(const evenkeel_unconnected *unconnected, size_t *length);

/* Connects node number `node` of `nodes`. addresses: those of all nodes in order, this node's among them.
 * limit_ms: a node has failed if it was asked and nothing was heard of it for so long; 0: for 2000 ms.
 * Consumes `unconnected`, even if it fails. */
int evenkeel_connect(evenkeel_unconnected *unconnected, uint32_t node, uint32_t nodes,
                     const void *const *addresses, const size_t *lengths, uint64_t limit_ms,
                     evenkeel_node **connected);

/* Closes the connections and frees the node. */
void evenkeel_close(evenkeel_node *node);

/* Writes `length` bytes at offset `at` of the global memory of all nodes of the set (an array of `count` node
 * numbers), and signals the event `remote` there. Does not wait; the bytes are copied. When it has been
 * carried out, the event `local` is signalled at this node; if a node fails, evenkeel_test_event of `local`
 * returns EVENKEEL_NODE_FAILED. Either event may be EVENKEEL_NO_EVENT. */
int evenkeel_xfer_and_signal(evenkeel_node *node, const uint32_t *set, size_t count, size_t at,
                             const void *bytes, size_t length, int64_t local, int64_t remote);

/* Takes one signal of an event of this node; waits for it at most longest_ms. failure may be NULL. */
int evenkeel_test_event(evenkeel_node *node, uint32_t event, uint64_t longest_ms, evenkeel_failure *failure);

/* Compares the variable (the 64-bit word at this offset, a multiple of 8) of all nodes of the set with a
 * value. If the comparison holds on all of them, writes *write on all of them, or nothing if write is NULL.
 * Waits until that is done. failure may be NULL. */
int evenkeel_compare_and_write(evenkeel_node *node, const uint32_t *set, size_t count, size_t variable,
                               evenkeel_comparison comparison, uint64_t value,
                               const evenkeel_word_write *write, evenkeel_failure *failure);

/* Reads this node's own global memory. While an operation that is not settled may change these bytes, waits,
 * at most longest_ms; EVENKEEL_NO: one still may, and nothing was read. */
int evenkeel_read(evenkeel_node *node, size_t at, void *to, size_t length, uint64_t longest_ms);

/* Sets a variable of this node alone, for others to compare. Only for variables that no operation writes. */
int evenkeel_set(evenkeel_node *node, size_t at, uint64_t value);

/* Serves the operations of other nodes: sleeps until a message may have come, at most longest_ms, and acts on
 * it. */
int evenkeel_serve(evenkeel_node *node, uint64_t longest_ms);

/* Declares a node dead, for good: nothing waits for it any more, and its messages are ignored. The program
 * must be sure of it, and must say so at all nodes. */
int evenkeel_evict(evenkeel_node *node, uint32_t dead);

/* Why the last call of this thread that returned EVENKEEL_ERROR did so. Valid until the next such call. */
const char *evenkeel_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
