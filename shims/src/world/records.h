/* What every rank's run was like, gathered on rank 0 for the report. */
#ifndef EK_WORLD_RECORDS_H
#define EK_WORLD_RECORDS_H

/* To be called by all ranks of MPI_COMM_WORLD. These are the last collectives of evenkeel. */
void ek_records_gather(void);

#endif
