/* Which point-to-point calls evenkeel can carry out: on which communicators, with which ranks and tags. */
#ifndef EK_MESSAGE_ARGUMENTS_H
#define EK_MESSAGE_ARGUMENTS_H
#include "process/communicator.h"

/* The communicator's entry, if evenkeel carries its messages; else NULL. */
ek_comm_entry *ek_message_comm(MPI_Comm);

/* Whether it is known here that the communicator has been revoked. */
bool ek_message_is_revoked(const ek_comm_entry *);

/* Whether a rank and a tag are valid; `wildcard`: MPI_ANY_SOURCE and MPI_ANY_TAG are. */
bool ek_message_rank_is_valid(const ek_comm_entry *, int rank, bool wildcard);
bool ek_message_tag_is_valid(int tag, bool wildcard);

/* As the engine has them. */
static inline int ek_engine_source(int source) { return source == MPI_ANY_SOURCE ? -1 : source; }
static inline int ek_engine_tag(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }

/* Asks the host for its largest tag. */
void ek_message_read_tag_limit(void);

#endif
