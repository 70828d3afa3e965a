// The symmetric heap and what is known of other global memory.
//
// Every allocation is followed by a red zone, so that a plain store past its end is seen when it is freed; ranges given
// to API calls are checked before anything is moved.  All PEs make the same calls in the same order, or are told so.
#include "opdev_sim/heap.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "allocations.h"
#include "opdev_sim/launch.h"
#include "shared.h"

namespace opdev_sim {

namespace {

constexpr uint64_t grain = 512;
constexpr uint64_t red_zone = 512;
constexpr uint8_t canary = 0x5e;

struct Allocation {
    uint64_t size = 0;   // what the user asked for
    uint64_t room = 0;   // with the red zone
    uint64_t number = 0;
    Site at;
};

std::shared_mutex guard;
std::map<uint64_t, Allocation> symmetric;            // by offset in the heap
std::map<const uint8_t *, Allocation> device;        // aclrtMalloc
uint64_t calls = 0;
uint64_t in_use = 0;

uint8_t *heap_of(int pe) { return world.heaps + static_cast<uint64_t>(pe) * world.stride; }

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// First byte of the red zone that was written; nullptr when whole.
const uint8_t *damaged(const uint8_t *base, const Allocation &a)
{
    for (uint64_t i = a.size; i < a.room; i++)
        if (base[i] != canary) return base + i;
    return nullptr;
}

void check_zone(const uint8_t *base, const Allocation &a, const char *kind, const char *when, Site at)
{
    const uint8_t *hit = damaged(base, a);
    if (hit == nullptr || !checked(kind)) return;
    fault(kind, at, "%s: something has written past the end of the %llu bytes allocated at %s:%d (%lld bytes past)",
          "%1$s：有代码写越过了在 %3$s:%4$d 分配的 %2$llu 字节的末尾（超出 %5$lld 字节处）", when, static_cast<unsigned long long>(a.size),
          a.at.file != nullptr ? base_name(a.at.file) : "-", a.at.line, static_cast<long long>(hit - base - static_cast<int64_t>(a.size)));
}

const char *const call_names[] = {"", "aclshmem_malloc", "aclshmem_calloc", "aclshmem_align", "aclshmem_free"};

// All PEs are in the same call with the same size, or the run ends.
void compare_collective(uint64_t call, uint64_t size, Site at)
{
    Collective &own = mine().collective;
    own.kind = call;
    own.size = size;
    own.count = ++calls;
    own.line = at.line;
    copy_text(own.file, sizeof own.file, at.file != nullptr ? base_name(at.file) : "-");
    pe_barrier(control_team, call_names[call], at);
    for (int pe = 0; pe < world.pes; pe++) {
        const Collective &o = world.control->pe[pe].collective;
        if (o.kind == own.kind && o.size == own.size && o.count == own.count) continue;
        fault(kind::allocation_order, at,
              "call %llu on the symmetric heap differs: PE %d %s(%llu) here, PE %d %s(%llu) at %s:%d; all PEs must allocate and free in the same order",
              "对称堆上的第 %llu 次调用不一致：PE %d 在此处为 %s(%llu)，PE %d 为 %s(%llu)（%s:%d）；各 PE 的分配与释放顺序必须相同",
              static_cast<unsigned long long>(own.count), world.pe, call_names[own.kind], static_cast<unsigned long long>(own.size), pe,
              call_names[o.kind < 5 ? o.kind : 0], static_cast<unsigned long long>(o.size), o.file, o.line);
    }
    pe_barrier(control_team, call_names[call], at);
}

}  // namespace

void reset_heap()
{
    std::unique_lock<std::shared_mutex> lock(guard);
    symmetric.clear();
    calls = 0;
    in_use = 0;
}

void *symmetric_allocate(int call, uint64_t size, uint64_t alignment, Site at)
{
    if (!world.session || size == 0) return nullptr;
    compare_collective(static_cast<uint64_t>(call), size, at);
    uint64_t accounted = round_up(size, grain);
    std::unique_lock<std::shared_mutex> lock(guard);
    if (in_use + accounted > world.heap_bytes) return nullptr;
    uint64_t room = accounted + red_zone;
    uint64_t place = 0;
    for (auto &[offset, a] : symmetric) {
        if (round_up(place, alignment) + room <= offset) break;
        place = offset + a.room;
    }
    place = round_up(place, alignment);
    if (place + room > world.stride) return nullptr;
    in_use += accounted;
    symmetric[place] = {size, room, calls, at};
    uint8_t *p = heap_of(world.pe) + place;
    if (atoi(environment("OPDEV_SIM_POISON", "0")) != 0) memset(p, 0xcd, size);
    memset(p + size, canary, room - size);
    return p;
}

void symmetric_free(void *p, Site at)
{
    if (p == nullptr || !world.session) return;
    uint64_t offset = static_cast<uint64_t>(static_cast<uint8_t *>(p) - heap_of(world.pe));
    {
        std::shared_lock<std::shared_mutex> lock(guard);
        auto it = symmetric.find(offset);
        if (it == symmetric.end())
            fault(kind::not_symmetric, at, "aclshmem_free(%p): no live allocation of this PE begins there (freed twice?)",
                  "aclshmem_free(%p)：该地址不是本 PE 有效分配的起点（重复释放？）", p);
        check_zone(heap_of(world.pe) + offset, it->second, kind::heap_bounds, "aclshmem_free", at);
    }
    uint64_t number = offset;
    compare_collective(4, number, at);
    std::unique_lock<std::shared_mutex> lock(guard);
    in_use -= round_up(symmetric[offset].size, grain);
    symmetric.erase(offset);
}

void heap_end_checks()
{
    std::shared_lock<std::shared_mutex> lock(guard);
    for (auto &[offset, a] : symmetric) check_zone(heap_of(world.pe) + offset, a, kind::heap_bounds, "aclshmem_finalize", a.at);
    if (!symmetric.empty() && checked(kind::leak)) {
        const Allocation &a = symmetric.begin()->second;
        warn(kind::leak, a.at, "%zu symmetric allocations are still there at aclshmem_finalize; the first has %llu bytes",
             "aclshmem_finalize 时仍有 %zu 处对称内存未释放，第一处 %llu 字节", symmetric.size(), static_cast<unsigned long long>(a.size));
    }
}

void *device_allocate(uint64_t size, Site at)
{
    uint64_t room = round_up(size, grain) + red_zone;
    auto p = static_cast<uint8_t *>(aligned_alloc(grain, room));
    if (p == nullptr) return nullptr;
    memset(p, 0xcd, size);  // not zero: kernels must write what they read
    memset(p + size, canary, room - size);
    std::unique_lock<std::shared_mutex> lock(guard);
    device[p] = {size, room, 0, at};
    return p;
}

bool device_free(void *p, Site at)
{
    std::unique_lock<std::shared_mutex> lock(guard);
    auto it = device.find(static_cast<uint8_t *>(p));
    if (it == device.end()) return false;
    check_zone(it->first, it->second, kind::gm_bounds, "aclrtFree", at);
    device.erase(it);
    free(p);
    return true;
}

int owner(const void *p)
{
    auto a = static_cast<const uint8_t *>(p);
    if (world.heaps == nullptr || a < world.heaps || a >= world.mapping + world.mapping_bytes) return -1;
    return static_cast<int>(static_cast<uint64_t>(a - world.heaps) / world.stride);
}

namespace {

// The live allocation around an offset of any heap (they are the same on all PEs).
const Allocation *symmetric_at(uint64_t offset, uint64_t *begin)
{
    auto it = symmetric.upper_bound(offset);
    if (it == symmetric.begin()) return nullptr;
    --it;
    if (offset >= it->first + it->second.room) return nullptr;
    *begin = it->first;
    return &it->second;
}

void check_symmetric(const uint8_t *p, int of, uint64_t bytes, const char *what, Site at)
{
    uint64_t offset = static_cast<uint64_t>(p - heap_of(of));
    std::shared_lock<std::shared_mutex> lock(guard);
    uint64_t begin = 0;
    const Allocation *a = symmetric_at(offset, &begin);
    if (a == nullptr) {
        if (!checked(kind::not_symmetric)) return;
        auto next = symmetric.upper_bound(offset);
        if (next == symmetric.begin())
            fault(kind::not_symmetric, at, "%s: the address lies in the symmetric heap of PE %d, but in no live allocation (freed?)",
                  "%s：该地址在 PE %d 的对称堆内，但不属于任何有效分配（已释放？）", what, of);
        auto &[place, before] = *std::prev(next);
        fault(kind::not_symmetric, at, "%s: the address lies in the symmetric heap of PE %d, but in no live allocation: it is %llu bytes past the end of the %llu bytes allocated at %s:%d (or in a freed block)",
              "%s：该地址在 PE %d 的对称堆内，但不属于任何有效分配：超出末尾 %llu 字节，前面一块有 %llu 字节，分配于 %s:%d（或该块已释放）", what, of,
              static_cast<unsigned long long>(offset - place - before.size), static_cast<unsigned long long>(before.size),
              before.at.file != nullptr ? base_name(before.at.file) : "-", before.at.line);
    }
    if (offset + bytes <= begin + a->size || !checked(kind::heap_bounds)) return;
    fault(kind::heap_bounds, at, "%s: %llu bytes from offset %llu go past the %llu bytes allocated at %s:%d",
          "%1$s：从偏移 %3$llu 起的 %2$llu 字节超出了在 %5$s:%6$d 分配的 %4$llu 字节", what, static_cast<unsigned long long>(bytes),
          static_cast<unsigned long long>(offset - begin), static_cast<unsigned long long>(a->size),
          a->at.file != nullptr ? base_name(a->at.file) : "-", a->at.line);
}

}  // namespace

void *translate(const void *p, int pe, uint64_t bytes, const char *what, Site at)
{
    current().site = at;
    if (pe < 0 || pe >= world.pes)
        fault(kind::bad_pe, at, "%s: PE %d, but there are PEs 0 to %d", "%s：PE %d 不存在，有效范围为 0 到 %d", what, pe, world.pes - 1);
    int of = owner(p);
    if (of != world.pe && of != pe)
        fault(kind::not_symmetric, at, "%s: the remote address %p is not in the symmetric heap (it must come from aclshmem_malloc)",
              "%s：远端地址 %p 不在对称堆内（必须由 aclshmem_malloc 分配）", what, p);
    auto a = static_cast<const uint8_t *>(p);
    check_symmetric(a, of, bytes, what, at);
    return heap_of(pe) + (a - heap_of(of));
}

uint64_t bytes_left(const void *p)
{
    auto a = static_cast<const uint8_t *>(p);
    std::shared_lock<std::shared_mutex> lock(guard);
    int of = owner(p);
    if (of >= 0) {
        uint64_t begin = 0;
        uint64_t offset = static_cast<uint64_t>(a - heap_of(of));
        const Allocation *s = symmetric_at(offset, &begin);
        return s == nullptr || offset >= begin + s->size ? 0 : begin + s->size - offset;
    }
    auto it = device.upper_bound(a);
    if (it == device.begin()) return ~0ull;
    --it;
    if (a >= it->first + it->second.room) return ~0ull;
    uint64_t offset = static_cast<uint64_t>(a - it->first);
    return offset >= it->second.size ? 0 : it->second.size - offset;
}

void check_gm(const void *p, uint64_t bytes, const char *what, Site at)
{
    current().site = at;
    if (p == nullptr && bytes != 0)
        fault(kind::gm_bounds, at, "%s: the global memory address is null", "%s：GM 地址为空", what);
    int of = owner(p);
    if (of >= 0) return check_symmetric(static_cast<const uint8_t *>(p), of, bytes, what, at);
    if (in_ub(p))
        fault(kind::gm_bounds, at, "%s: a UB address stands where global memory is meant", "%s：此处应为 GM 地址，却给了 UB 地址", what);
    uint64_t left = bytes_left(p);
    if (bytes <= left || !checked(kind::gm_bounds)) return;
    fault(kind::gm_bounds, at, "%s: %llu bytes, but only %llu are left in the aclrtMalloc block",
          "%s：访问 %llu 字节，而该 aclrtMalloc 内存块只剩 %llu 字节", what, static_cast<unsigned long long>(bytes),
          static_cast<unsigned long long>(left));
}

const char *describe(uint64_t offset, char *room, size_t size)
{
    auto p = world.mapping + offset;
    int of = owner(p);
    uint64_t begin = 0;
    uint64_t in_heap = static_cast<uint64_t>(p - heap_of(of));
    std::shared_lock<std::shared_mutex> lock(guard, std::try_to_lock);
    const Allocation *a = lock.owns_lock() ? symmetric_at(in_heap, &begin) : nullptr;
    if (a == nullptr) snprintf(room, size, "pe%d:heap+%" PRIu64, of, in_heap);
    else snprintf(room, size, "pe%d:%s:%d+%" PRIu64, of, a->at.file != nullptr ? base_name(a->at.file) : "heap", a->at.line, in_heap - begin);
    return room;
}

}  // namespace opdev_sim
