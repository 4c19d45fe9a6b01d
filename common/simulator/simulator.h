// What the simulator offers a host program beyond CUDA's own calls. Programs need none of it.
#pragma once

#include "common/simulator/memory/name_memory.h"
#include "common/simulator/reports/overlap.h"
#include "common/simulator/reports/report.h"
