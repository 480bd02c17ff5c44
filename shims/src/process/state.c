#include "process/state.h"

ek_process_state ek_process = {.closed_gate = 1};
_Thread_local int ek_depth;
