// What a host program may ask of the simulator beyond CUDA's own calls. Programs need none of it.
#pragma once

#include "common/simulator/reports/report.h"
