/* Start and end of a trace, and of a repetition. */
#ifndef EK_TRACE_START_H
#define EK_TRACE_START_H

/* Between all ranks of MPI_COMM_WORLD, once everything else has started. */
void ek_traces_start(void);

/* In MPI_Finalize, before anything else ends. */
void ek_traces_finish(void);

/* In MPI_Finalize, while the host still carries messages: returns when no rank stops any more. */
void ek_traces_leave(void);

/* In a child that was forked. */
void ek_traces_forget(void);

#endif
