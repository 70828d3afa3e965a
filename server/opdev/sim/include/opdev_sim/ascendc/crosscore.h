// CrossCoreSetFlag and CrossCoreWaitFlag: flags between the cores of one launch (src/crosscore.cpp).
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/ascendc/sync.h"
#include "opdev_sim/wait.h"

namespace AscendC {

/// 核间置标志。
/// Sets a flag for other cores.
template <uint8_t mode, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t id, Site at = here())
{
    static_assert(mode <= 2, "CrossCoreSetFlag has modes 0, 1 and 2");
    complete_pipe(pipe);
    opdev_sim::cross_set(mode, id, at);
}

/// 等待核间标志。
/// Waits for a flag of other cores.
template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t id, Site at = here())
{
    // A number out of range is told before anything is counted by it.
    const uint32_t times = id < 16 ? ++opdev_sim::core("CrossCoreWaitFlag", at).crossed[id] : 1;
    opdev_sim::cross_wait(id, times, at);
}

}  // namespace AscendC
