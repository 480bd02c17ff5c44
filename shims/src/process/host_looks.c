#include "process/host_looks.h"

_Thread_local int ek_host_tests __attribute__((tls_model("initial-exec")));
_Thread_local int ek_host_asks __attribute__((tls_model("initial-exec")));
