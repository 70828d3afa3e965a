// Order between the pipes of a core, and between cores.
//
// Loads into UB and vector work are complete when they return; only the way out of UB (MTE3) lags
// behind, so only waits on MTE3 complete anything.  That flags pair up is checked for every event.
//
// A WaitFlag holds back one pipe.  MTE3_MTE2 and MTE3_V let MTE2 and V go on, not the scalar unit, which issues
// signals: their transfers count as complete, but a signal after them is warned of until the scalar unit has waited.
#pragma once
#pragma GCC system_header

#include <atomic>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/ascendc/tensor.h"
#include "opdev_sim/launch.h"
#include "opdev_sim/order.h"

namespace AscendC {

constexpr bool waits_for_mte3(HardEvent event)
{
    return event == HardEvent::MTE3_V || event == HardEvent::MTE3_MTE1 || event == HardEvent::MTE3_MTE2 ||
           event == HardEvent::MTE3_S;
}

constexpr bool waits_on_scalar(HardEvent event)
{
    return event == HardEvent::MTE3_S || event == HardEvent::MTE2_S || event == HardEvent::V_S || event == HardEvent::M_S ||
           event == HardEvent::FIX_S;
}

template <class Id>
inline opdev_sim::EventFlag &event_flag(HardEvent event, Id id, const char *what, Site at)
{
    const int number = static_cast<int>(id);
    if (number < 0 || number > 7) {
        opdev_sim::fault(opdev_sim::kind::unsupported, at, "%s<%s>(%d): event numbers are 0 to 7",
                         "%s<%s>(%d)：事件号只能是 0 到 7", what, opdev_sim::event_name(event), number);
    }
    return opdev_sim::core(what, at).flags[static_cast<int>(event)][number];
}

template <class Id>
inline void raise_flag(HardEvent event, Id id, Site at)
{
    opdev_sim::EventFlag &flag = event_flag(event, id, "SetFlag", at);
    if (flag.set && opdev_sim::checked(opdev_sim::kind::queue)) {
        opdev_sim::fault(opdev_sim::kind::queue, at,
                         "SetFlag<%s>(%d) is set a second time without a WaitFlag between: the device has one bit for it, so "
                         "one of the two is lost and a wait for it hangs",
                         "SetFlag<%s>(%d) 连续设置两次，中间没有 WaitFlag：设备上每个事件只有一位，会丢一次，对应的等待会卡死",
                         opdev_sim::event_name(event), static_cast<int>(id));
    }
    flag = {true, opdev_sim::ticket(), at};
}

template <class Id>
inline void await_flag(HardEvent event, Id id, Site at)
{
    opdev_sim::EventFlag &flag = event_flag(event, id, "WaitFlag", at);
    if (!flag.set) {
        opdev_sim::fault(opdev_sim::kind::deadlock, at,
                         "WaitFlag<%s>(%d) waits for a SetFlag that was never called: the core hangs",
                         "WaitFlag<%s>(%d) 等的 SetFlag 从未调用：核会卡死", opdev_sim::event_name(event),
                         static_cast<int>(id));
    }
    flag.set = false;
    if (waits_for_mte3(event) && !waits_on_scalar(event)) {
        opdev_sim::complete_for_pipe(flag.ticket, opdev_sim::event_name(event), at);
    } else if (waits_for_mte3(event)) {
        opdev_sim::complete(opdev_sim::mte, flag.ticket);
    } else if (waits_on_scalar(event)) {
        // It waits for a pipe that may itself have waited for MTE3.
        opdev_sim::scalar_waited();
    }
}

/// 前一条流水到此时置事件，供 WaitFlag 等待。
/// Sets the event when the first pipe gets here; WaitFlag waits for it.
template <HardEvent event, class Id>
inline void SetFlag(Id id, Site at = here())
{
    raise_flag(event, id, at);
}
/// 后一条流水等待该事件；与 SetFlag 一一对应。
/// The second pipe waits for the event; one WaitFlag for each SetFlag.
template <HardEvent event, class Id>
inline void WaitFlag(Id id, Site at = here())
{
    await_flag(event, id, at);
}

inline void complete_pipe(pipe_t pipe)
{
    if (pipe == PIPE_ALL || pipe == PIPE_MTE3) {
        opdev_sim::complete(opdev_sim::mte);
    }
}

/// 等待该流水上已发出的指令完成。
/// Waits until the pipe has done what was issued to it.
template <pipe_t pipe>
inline void PipeBarrier()
{
    complete_pipe(pipe);
}

/// 等待本次启动的所有核到齐。
/// Waits for all cores of this launch.
template <bool only_vector_cores = true>
inline void SyncAll(Site at = here())
{
    opdev_sim::block_sync("SyncAll", at);
}
// The software form: a workspace in GM and one in UB, which the stand-in does not need.
/// 等待本次启动的所有核到齐。
/// Waits for all cores of this launch.
template <bool only_vector_cores = true>
inline void SyncAll(const GlobalTensor<int32_t> &, const LocalTensor<int32_t> &, const int32_t = 0, Site at = here())
{
    opdev_sim::block_sync("SyncAll", at);
}

/// 写回并作废数据缓存，使标量读到他人写入的值。
/// Writes back and drops cache lines, so that scalar reads see what others wrote.
template <class T, CacheLine line, DcciDst destination = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &)
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
template <MemDsbT kind = MemDsbT::ALL>
inline void DataSyncBarrier()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace AscendC

// The compiler's own forms of the same.
inline void pipe_barrier(pipe_t pipe) { AscendC::complete_pipe(pipe); }

namespace opdev_sim {
inline AscendC::HardEvent event_between(pipe_t from, pipe_t to, const char *what, Site at)
{
    static const struct {
        pipe_t from, to;
        AscendC::HardEvent event;
    } known[] = {{PIPE_MTE2, PIPE_V, AscendC::HardEvent::MTE2_V},       {PIPE_V, PIPE_MTE2, AscendC::HardEvent::V_MTE2},
                 {PIPE_MTE3, PIPE_V, AscendC::HardEvent::MTE3_V},       {PIPE_V, PIPE_MTE3, AscendC::HardEvent::V_MTE3},
                 {PIPE_MTE3, PIPE_MTE2, AscendC::HardEvent::MTE3_MTE2}, {PIPE_MTE2, PIPE_MTE3, AscendC::HardEvent::MTE2_MTE3},
                 {PIPE_S, PIPE_V, AscendC::HardEvent::S_V},             {PIPE_V, PIPE_S, AscendC::HardEvent::V_S},
                 {PIPE_S, PIPE_MTE2, AscendC::HardEvent::S_MTE2},       {PIPE_MTE2, PIPE_S, AscendC::HardEvent::MTE2_S},
                 {PIPE_S, PIPE_MTE3, AscendC::HardEvent::S_MTE3},       {PIPE_MTE3, PIPE_S, AscendC::HardEvent::MTE3_S}};
    for (const auto &one : known) {
        if (one.from == from && one.to == to) {
            return one.event;
        }
    }
    fault(kind::unsupported, at, "%s between pipes %d and %d is not in the stand-in", "模拟环境不支持 %s（流水 %d 到 %d）", what,
          static_cast<int>(from), static_cast<int>(to));
}
}  // namespace opdev_sim

template <class Id>
inline void set_flag(pipe_t from, pipe_t to, Id id, opdev_sim::Site at = opdev_sim::here())
{
    AscendC::raise_flag(opdev_sim::event_between(from, to, "set_flag", at), id, at);
}
template <class Id>
inline void wait_flag(pipe_t from, pipe_t to, Id id, opdev_sim::Site at = opdev_sim::here())
{
    AscendC::await_flag(opdev_sim::event_between(from, to, "wait_flag", at), id, at);
}
