/* A rank that cannot take part in its job: one that exits inside MPI_Init, or is alone after it.
 *
 * The others would wait for it there. Launchers end a job when a rank is killed, but some do not when a rank
 * exits: MPICH's before the rank has joined, all of them if the exit code is 0. So such a rank says what
 * happened, and tells the launcher or ends by a signal where the launcher would not notice its exit. */
#ifndef EK_WORLD_ENDING_H
#define EK_WORLD_ENDING_H

/* MPI_Init begins in this process. */
void ek_ending_watch(void);

/* The job has `size` ranks. Ends the process if evenkeel's launcher started another number: each process
 * would take itself for the only one, and succeed. */
void ek_ending_check_size(int size);

/* It is over. */
void ek_ending_forget(void);

#endif
