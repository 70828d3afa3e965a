// Addresses: the symmetric heap of every PE (one shared mapping), global memory from aclrtMalloc, and UB.
//
// Each check returns when the whole range lies inside one buffer and ends the run otherwise.  Global memory that the
// stand-in did not allocate (a host tensor handed to a kernel) passes.
#pragma once
#include <cstdint>

#include "opdev_sim/context.h"
#include "opdev_sim/report.h"

namespace opdev_sim {

// PE whose symmetric heap holds p; -1 when none does.
int owner(const void *p);
// The same object in the heap of `pe`.  p must lie in an allocation of the own heap, or in the heap of `pe` itself
// (an aclshmem_ptr result), with `bytes` bytes left in it.
void *translate(const void *p, int pe, uint64_t bytes, const char *what, Site at);
template <class T>
T *translate(T *p, int pe, uint64_t bytes, const char *what, Site at)
{
    return static_cast<T *>(translate(static_cast<const void *>(p), pe, bytes, what, at));
}
// Bytes from p to the end of the allocation that holds it (symmetric or aclrtMalloc); ~0 when nobody knows.
uint64_t bytes_left(const void *p);
void check_gm(const void *p, uint64_t bytes, const char *what, Site at);
// p lies in the UB arena of the running block and so do the `bytes` after it.
void check_ub(const void *p, uint64_t bytes, const char *what, Site at);
bool in_ub(const void *p);

// A UB address as kernels write it, an offset or a pointer, as a pointer into the block's arena.
inline void *ub_address(uint64_t a)
{
    Block &b = current();
    return a < (1ull << 20) && b.ub != nullptr ? static_cast<void *>(b.ub + a) : reinterpret_cast<void *>(a);
}
template <class P>
P ub(uint64_t a)
{
    return static_cast<P>(ub_address(a));
}
// What a cast to `__ubuf__ T *` becomes: ub_cast<T *>(x) for reinterpret_cast, UbCast<T *>{}->*x for a C cast.
template <class P, class X>
P ub_cast(X x)
{
    return ub<P>((uint64_t)(x));
}
template <class P>
struct UbCast {};
template <class P, class X>
P operator->*(UbCast<P>, X x)
{
    return ub<P>((uint64_t)(x));
}

}  // namespace opdev_sim
