// streams.cu, built with a default stream for each thread of the host: other names of the runtime's
// functions.
#include "streams.cu"
