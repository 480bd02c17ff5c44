/* Ends Open MPI 4's launcher after evenkeel has ended the ranks of a job.
 *
 * With --enable-recovery, mpirun of Open MPI 4 leaves a job alone in which a rank has died. If the job runs
 * on several hosts, mpirun also goes on waiting when all ranks have ended: its daemons report none of them,
 * and MPI_Abort is not heeded either. It ends on SIGTERM. */
#ifndef EK_WORLD_LAUNCHER_END_H
#define EK_WORLD_LAUNCHER_END_H

/* To be called once evenkeel has begun to end the ranks of this node. A launcher that is still there seconds
 * later gets SIGTERM, if it is an ancestor of this process. */
void ek_launcher_end(void);

#endif
