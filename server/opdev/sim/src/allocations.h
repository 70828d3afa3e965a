// Allocation as the host API makes it; checks of addresses are in opdev_sim/heap.h.
#pragma once
#include <cstdint>

#include "opdev_sim/report.h"

namespace opdev_sim {

// call: 1 malloc, 2 calloc, 3 align.  Collective; nullptr when the heap is full.
void *symmetric_allocate(int call, uint64_t size, uint64_t alignment, Site at);
void symmetric_free(void *p, Site at);
void *device_allocate(uint64_t size, Site at);
// False when p is no aclrtMalloc block.
bool device_free(void *p, Site at);

}  // namespace opdev_sim
