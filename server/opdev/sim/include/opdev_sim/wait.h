// Waiting: every wait of every thread of every PE stands in one shared table, so that a wait nobody can end any more
// is found at once, with who waits for whom on what value.  Waits sleep; they do not spin.
#pragma once
#include <cstdint>
#include <cstring>

#include "opdev_sim/context.h"
#include "opdev_sim/report.h"
#include "opdev_sim/types.h"

namespace opdev_sim {

// Same numbers as ACLSHMEM_CMP_*.
enum Cmp : int { eq = 0, ne = 1, gt = 2, ge = 3, lt = 4, le = 5 };

// Values travel as 64 bits plus their element kind.
bool holds(Element type, const void *p, int cmp, uint64_t bits);
// Waits until the value at p compares true; gives its bits.  p may lie in any symmetric heap or in other GM.
uint64_t wait_until(Element type, const void *p, int cmp, uint64_t bits, const char *what, Site at);
// One look, for test calls and for polling loops in user code (GetValue, dcci): sleeps a little when the same place is
// looked at again and again, so that a spinning kernel leaves the CPU to the one it waits for.
void polled(const void *p, Site at);

// Flags between the cores of one launch: sets one as CrossCoreSetFlag of that mode does; waits until it was set for the
// calling core `times` times since the launch began.
void cross_set(int mode, int flag, Site at);
void cross_wait(int flag, uint32_t times, Site at);

template <class T>
uint64_t to_bits(T v)
{
    uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    return bits;
}
template <class T>
T wait_until(const T *p, int cmp, T value, const char *what, Site at)
{
    uint64_t bits = wait_until(element<T>(), p, cmp, to_bits(value), what, at);
    T seen;
    std::memcpy(&seen, &bits, sizeof seen);
    return seen;
}

}  // namespace opdev_sim
