// What is remembered of signal words: who set them last, and whether that value has already ended a wait.
#include "opdev_sim/heap.h"
#include "shared.h"

namespace opdev_sim {

namespace {

// The entry of a word, made when `make`; nullptr when there is none or the table is full.
Signal *find(Pe &pe, uint64_t offset, bool make)
{
    uint64_t at = (offset / 4 * 2654435761u) % max_signals;
    for (int i = 0; i < max_signals; i++) {
        Signal &s = pe.signals[(at + static_cast<uint64_t>(i)) % max_signals];
        if (s.offset == offset + 1) return &s;
        if (s.offset != 0) continue;
        if (!make) return nullptr;
        s.offset = offset + 1;
        return &s;
    }
    return nullptr;
}

}  // namespace

void signal_written(const void *p, uint64_t value, bool set, Site at)
{
    int of = owner(p);
    if (of < 0) return;
    Pe &pe = world.control->pe[of];
    const Block &b = current();
    bool reused = false;
    {
        SharedLock lock(pe.signals_lock);
        Signal *s = find(pe, offset_of(p), true);
        if (s == nullptr) return;
        uint32_t now = __atomic_load_n(static_cast<const uint32_t *>(p), __ATOMIC_ACQUIRE);
        // The word holds the value already, from an earlier launch of this very PE, and a wait has used it: the next
        // wait for it ends at once, whatever this launch has done by then.
        reused = set && s->writes != 0 && s->pe == world.pe && s->value == value && now == static_cast<uint32_t>(value) &&
                 s->waited != 0 && s->launch < b.launch && b.on_device;
        s->pe = world.pe;
        s->block = static_cast<int32_t>(b.block_idx);
        s->writes++;
        s->value = value;
        s->launch = b.launch;
        s->waited = 0;
    }
    if (reused && checked(kind::signal_reused))
        fault(kind::signal_reused, at,
              "the signal of PE %d is set to %lld again, which it has held since an earlier launch and which a wait has already used: the next wait for it ends "
              "before the data of this launch is there (use a new magic for each launch, or reset the word)",
              "PE %d 的信号字再次被置为 %lld，而该值自之前的启动起就在其中且已被等待使用过：下一次等待会在本次启动的数据到达之前结束（每次启动应使用新的 magic，或先清零）", of,
              static_cast<long long>(static_cast<int32_t>(value)));
}

void signal_waited(const void *p, uint64_t value, bool at_once, const char *what, Site at)
{
    int of = mapped(p) ? owner(p) : -1;
    if (of < 0) return;
    Pe &pe = world.control->pe[of];
    const Block &b = current();
    uint64_t before = 0;
    {
        SharedLock lock(pe.signals_lock);
        Signal *s = find(pe, offset_of(p), false);
        if (s == nullptr || static_cast<uint32_t>(s->value) != static_cast<uint32_t>(value)) return;
        if (of != world.pe) {
            // Somebody else's word: what it has served for is not remembered by waiter.
            s->waited = s->waited != 0 ? s->waited : 1;
            return;
        }
        if (at_once && b.on_device && s->waited > 1 && s->waited <= b.launch && s->launch < b.launch) before = s->waited - 1;
        s->waited = b.launch + 1;
    }
    // The value is an earlier launch's, and has ended a wait of that launch already.
    if (before != 0 && checked(kind::signal_reused))
        warn(kind::signal_reused, at,
             "%s ends at once in launch %llu: the word holds %lld since an earlier launch, where a wait has already used it, so it says nothing about the data of this "
             "launch (use a new magic for each launch, or reset the word)",
             "%s 在第 %llu 次启动中立即通过：该字自之前的启动起就是 %lld 且已被等待使用过，不代表本次启动的数据已到（每次启动应使用新的 magic，或先清零）", what,
             static_cast<unsigned long long>(b.launch), static_cast<long long>(static_cast<int32_t>(value)));
}

bool last_writer(uint64_t offset, int *pe, int *block, uint64_t *value)
{
    int of = owner(world.mapping + offset);
    if (of < 0) return false;
    // Without the lock: the report is about threads that no longer move.
    Signal *s = find(world.control->pe[of], offset, false);
    if (s == nullptr || s->writes == 0) return false;
    *pe = s->pe;
    *block = s->block;
    *value = s->value;
    return true;
}

}  // namespace opdev_sim
