// Copies that add, or take the larger or smaller value, element by element and indivisibly.
#pragma once
#include <cstdint>

#include "opdev_sim/context.h"

namespace opdev_sim {

// Gives the old value's bits, too.
uint64_t atomic_apply(AtomicOp op, Element type, void *p, uint64_t bits);
void atomic_row(AtomicOp op, Element type, void *dst, const void *src, uint64_t bytes);

}  // namespace opdev_sim
