/* What every rank's run was like, gathered on rank 0 for the report. */
#ifndef EK_WORLD_RECORDS_H
#define EK_WORLD_RECORDS_H

/* By all ranks of MPI_COMM_WORLD: the last collective of evenkeel's. */
void ek_records_gather(void);

#endif
