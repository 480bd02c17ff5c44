/* Start and end of carrying messages. */
#ifndef EK_MESSAGE_START_H
#define EK_MESSAGE_START_H

/* Between all ranks of MPI_COMM_WORLD. */
void ek_messages_start(void);
void ek_messages_stop(void);

#endif
