/* Dead ranks and revoked communicators, where the host lets programs survive faults. */
#ifndef EK_PROCESS_FAULTS_H
#define EK_PROCESS_FAULTS_H
#include <stdbool.h>

/* Whether the host reports faults to this program: then barriers must be able to report them too. Open MPI
 * does so when its launcher was told --with-ft. */
bool ek_host_reports_faults(void);

/* The MPI error class for EK_REVOKED and EK_LOST_MEMBER. */
int ek_error_class(int code);

#endif
