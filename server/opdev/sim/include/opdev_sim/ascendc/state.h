// What one core of a running kernel keeps beside the block itself: event flags, cross-core flags, the vector mask.
//
// The state begins with the kernel and is judged at its end: a flag nobody waited for stays on the core
// and lets the next kernel's first wait pass too early, so it is told here.
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "opdev_sim/ascendc/names.h"
#include "opdev_sim/context.h"
#include "opdev_sim/order.h"
#include "opdev_sim/report.h"

namespace opdev_sim {

struct EventFlag {
    bool set = false;
    uint64_t ticket = 0;
    Site at;
};

struct Core {
    EventFlag flags[static_cast<int>(AscendC::HardEvent::MAX)][8];
    uint32_t crossed[16] = {};  // cross-core flags of each number this core has consumed
    uint64_t mask[2] = {~0ull, ~0ull};
    bool counter_mask = false;
};

inline Core *&core_slot()
{
    static thread_local Core *slot = nullptr;
    return slot;
}

inline Core &core(const char *what, Site at)
{
    Core *here = core_slot();
    if (here == nullptr) {
        fault(kind::unsupported, at, "%s is called outside a kernel", "%s 不在 kernel 里调用", what);
    }
    return *here;
}

inline const char *event_name(AscendC::HardEvent event)
{
    static const char *const names[] = {
        "MTE2_MTE1", "MTE1_MTE2", "MTE1_M", "M_MTE1", "MTE2_V", "V_MTE2", "MTE3_V", "V_MTE3", "M_V", "V_M", "V_V",
        "MTE3_MTE1", "MTE1_MTE3", "MTE1_V", "MTE2_M", "M_MTE2", "V_MTE1", "M_FIX", "FIX_M", "MTE3_MTE2", "MTE2_MTE3",
        "S_V", "V_S", "S_MTE2", "MTE2_S", "S_MTE3", "MTE3_S", "MTE2_FIX", "FIX_MTE2", "FIX_S", "M_S", "FIX_MTE3",
        "FIX_V", "FIX_FIX"};
    return names[static_cast<int>(event)];
}

// The core's state for as long as the kernel runs.
class KernelScope {
public:
    KernelScope() : before_(core_slot()) { core_slot() = &core_; }
    ~KernelScope() { core_slot() = before_; }
    KernelScope(const KernelScope &) = delete;
    KernelScope &operator=(const KernelScope &) = delete;

    // Called where the kernel returns.
    void finish()
    {
        for (int event = 0; event < static_cast<int>(AscendC::HardEvent::MAX); ++event) {
            for (int id = 0; id < 8; ++id) {
                const EventFlag &flag = core_.flags[event][id];
                if (flag.set) {
                    warn(kind::queue, flag.at,
                         "SetFlag<%s>(%d) has no WaitFlag before the kernel ends: the flag stays set on the core and "
                         "the next kernel's first wait passes too early",
                         "SetFlag<%s>(%d) 到 kernel 结束也没有对应的 WaitFlag：标志留在核上，下一个 kernel "
                         "的第一次等待会提前通过",
                         event_name(static_cast<AscendC::HardEvent>(event)), id);
                }
            }
        }
    }

private:
    Core core_;
    Core *before_;
};

}  // namespace opdev_sim
