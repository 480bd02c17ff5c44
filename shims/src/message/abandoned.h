/* Transfers whose requests the program has freed while they were active. */
#ifndef EK_MESSAGE_ABANDONED_H
#define EK_MESSAGE_ABANDONED_H
#include "message/transfer.h"

/* Lets a transfer go on; it is finished when it is complete. */
void ek_transfer_abandon(ek_transfer *);

/* Finishes those that are complete. */
void ek_abandoned_reap(void);

#endif
