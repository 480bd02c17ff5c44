#include "gate/deferral.h"
#include <pthread.h>

static pthread_t owner;

void ek_gate_own(void) { owner = pthread_self(); }

bool ek_gate_is_own(void) { return pthread_equal(owner, pthread_self()); }
