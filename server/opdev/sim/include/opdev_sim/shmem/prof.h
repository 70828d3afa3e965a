// Cycle profiling inside kernels.  Counted on the PE that SHMEM_CYCLE_PROF_PE names; host time, not device time.
#pragma once
#include "opdev_sim/launch.h"

#define SHMEMI_PROF_START(frame) ::opdev_sim::prof_start(static_cast<int>(frame))
#define SHMEMI_PROF_END(frame) ::opdev_sim::prof_end(static_cast<int>(frame))
