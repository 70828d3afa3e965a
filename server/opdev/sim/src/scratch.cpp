// UB: an arena per running block between unmapped pages, and what a plain access outside of it looks like.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "arena.h"
#include "opdev_sim/heap.h"
#include "shared.h"

namespace opdev_sim {

namespace {

thread_local Block block;
constexpr uint64_t guard_bytes = 64 * 1024;
std::mutex pool_lock;
std::vector<uint8_t *> pool;

uint64_t arena_bytes() { return (ub_bytes() + 4095) / 4096 * 4096; }

// A kernel's access past UB lands on the unmapped pages.  Anything else is the user's own wild pointer.
void on_fault(int number, siginfo_t *info, void *)
{
    const Block &b = block;
    auto a = static_cast<uint8_t *>(info->si_addr);
    if (b.ub != nullptr && a >= b.ub - guard_bytes && a < b.ub + arena_bytes() + guard_bytes)
        fault(kind::ub_bounds, {}, "a plain access at UB offset %lld; UB has %llu bytes", "直接访问了 UB 偏移 %lld，而 UB 只有 %llu 字节",
              static_cast<long long>(a - b.ub), static_cast<unsigned long long>(b.ub_size));
    if (b.on_device && reinterpret_cast<uint64_t>(a) < (1u << 20))
        fault(kind::memory, {}, "kernel %s accesses address %p: a null pointer, or a UB offset used as a plain pointer",
              "核函数 %s 访问了地址 %p：空指针，或把 UB 偏移当作普通指针使用", b.kernel, static_cast<void *>(a));
    fault(kind::memory, {}, "%s at address %p", "%s，地址 %p", number == SIGBUS ? "SIGBUS" : "SIGSEGV", static_cast<void *>(a));
}

}  // namespace

Block &current() { return block; }

void catch_bad_accesses()
{
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGSEGV, &action, nullptr);
        sigaction(SIGBUS, &action, nullptr);
    });
}

uint8_t *take_arena()
{
    uint8_t *arena = nullptr;
    {
        std::lock_guard<std::mutex> lock(pool_lock);
        if (!pool.empty()) {
            arena = pool.back();
            pool.pop_back();
        }
    }
    if (arena == nullptr) {
        void *m = mmap(nullptr, arena_bytes() + 2 * guard_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m == MAP_FAILED) fault(kind::unsupported, {}, "no memory for UB", "无法分配 UB 内存");
        arena = static_cast<uint8_t *>(m) + guard_bytes;
        mprotect(arena, arena_bytes(), PROT_READ | PROT_WRITE);
    }
    memset(arena, 0xa5, arena_bytes());
    return arena;
}

void give_arena(uint8_t *arena)
{
    std::lock_guard<std::mutex> lock(pool_lock);
    pool.push_back(arena);
}

bool in_ub(const void *p)
{
    auto a = static_cast<const uint8_t *>(p);
    return block.ub != nullptr && a >= block.ub && a < block.ub + block.ub_size;
}

void check_ub(const void *p, uint64_t bytes, const char *what, Site at)
{
    block.site = at;
    auto a = static_cast<const uint8_t *>(p);
    if (block.ub == nullptr) return;
    if (in_ub(p) && bytes <= block.ub_size - static_cast<uint64_t>(a - block.ub)) return;
    if (!checked(kind::ub_bounds)) return;
    if (in_ub(p))
        fault(kind::ub_bounds, at, "%s: %llu bytes from UB offset %llu go past the %llu bytes of UB",
              "%1$s：从 UB 偏移 %3$llu 起的 %2$llu 字节超出 UB 的 %4$llu 字节", what, static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(a - block.ub), static_cast<unsigned long long>(block.ub_size));
    fault(kind::ub_bounds, at, "%s: the address %p is not in UB (offset %lld of %llu bytes)", "%s：地址 %p 不在 UB 内（偏移 %lld，UB 共 %llu 字节）", what, p,
          static_cast<long long>(a - block.ub), static_cast<unsigned long long>(block.ub_size));
}

const char *soc_name() { return environment("OPDEV_SIM_SOC", "Ascend910B1"); }

uint64_t ub_bytes()
{
    static const uint64_t bytes = strstr(soc_name(), "Ascend950") != nullptr ? 248 * 1024 : 192 * 1024;
    return bytes;
}

int my_pe() { return world.pe; }
int n_pes() { return world.pes; }

}  // namespace opdev_sim
