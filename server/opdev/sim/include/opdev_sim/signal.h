// Single words in symmetric memory: signals, one-element puts and gets, atomics.  All take effect before they return
// and order nothing: a put issued before a signal is not complete because of it.
#pragma once
#include <cstdint>

#include "opdev_sim/report.h"
#include "opdev_sim/types.h"

namespace opdev_sim {

enum class Amo : uint8_t { fetch, set, swap, compare_swap, add, bit_and, bit_or, bit_xor };

// op: 0 SET, 1 ADD.
void signal_op(int32_t *signal, int32_t value, int op, int pe, const char *what, Site at);
void store_element(Element type, void *dst, uint64_t bits, int pe, const char *what, Site at);
uint64_t load_element(Element type, const void *src, int pe, const char *what, Site at);
// Gives the old value's bits.
uint64_t atomic(Amo amo, Element type, void *dst, uint64_t bits, uint64_t condition, int pe, const char *what, Site at);

}  // namespace opdev_sim
