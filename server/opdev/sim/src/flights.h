// The table of pending transfers into each PE's memory, for readers to look into.
#pragma once
#include <cstdint>

#include "opdev_sim/order.h"
#include "shared.h"

namespace opdev_sim {

// Where a pending transfer stands in the table; index -1: in none (its target is UB, or the table is full).
struct Flight {
    int pe = 0;
    int index = -1;
};

Flight take_off(Engine engine, const void *dst, const Rows &rows, int peer, const char *what, Site at);
void land(const Flight &flight);
// A pending transfer that writes some of the bytes.
bool in_flight(const void *p, uint64_t bytes, Pending *hit);

}  // namespace opdev_sim
