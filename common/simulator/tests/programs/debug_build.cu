// divergence.cu, built for the debugger: no optimisation, every variable in memory.
#include "divergence.cu"
