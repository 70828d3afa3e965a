// Where a kernel runs, what time it is, and printing from it.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/ascendc/tensor.h"
#include "opdev_sim/context.h"

namespace AscendC {

// A vector core of a mix kernel is numbered through all blocks, a cube core by its block.
/// 本核编号，从 0 起。
/// The number of this core, from 0.
inline int64_t GetBlockIdx()
{
    const opdev_sim::Block &block = opdev_sim::current();
    return block.is_aic ? block.block_idx : block.block_idx * block.sub_block_num + block.sub_block_idx;
}
/// 本次启动的核数。
/// How many blocks were launched.
inline int64_t GetBlockNum() { return opdev_sim::current().block_num; }
/// 本 AIV 在其核组里的编号。
/// The number of this AIV within its group.
inline int64_t GetSubBlockIdx() { return opdev_sim::current().sub_block_idx; }
inline int64_t GetSubBlockNum() { return opdev_sim::current().sub_block_num; }
inline int64_t GetTaskRatio() { return opdev_sim::current().is_aic ? 1 : opdev_sim::current().sub_block_num; }
inline int64_t GetSystemCycle() { return opdev_sim::system_cycle(); }
inline int64_t GetProgramCounter() { return 0; }

inline void InitDump(bool, GM_ADDR, int32_t) {}
template <class... Args>
inline void PRINTF(const char *format, Args... args)
{
    std::printf(format, args...);
    std::fflush(stdout);
}
template <class... Args>
inline void printf(const char *format, Args... args)
{
    PRINTF(format, args...);
}
template <class T>
inline void DumpTensor(const LocalTensor<T> &tensor, uint32_t label, uint32_t elements, Site at = here())
{
    tensor.check(static_cast<uint64_t>(elements) * sizeof(T), "DumpTensor", at);
    std::printf("[SIM] DumpTensor %u:", label);
    for (uint32_t index = 0; index < elements; ++index) {
        std::printf(" %g", static_cast<double>(tensor.GetPhyAddr()[index]));
    }
    std::printf("\n");
}
template <class T>
inline void DumpTensor(const GlobalTensor<T> &tensor, uint32_t label, uint32_t elements, Site at = here())
{
    tensor.check(0, elements, "DumpTensor", at);
    std::printf("[SIM] DumpTensor %u:", label);
    for (uint32_t index = 0; index < elements; ++index) {
        std::printf(" %g", static_cast<double>(tensor.GetPhyAddr()[index]));
    }
    std::printf("\n");
}

// Scalar conversions of bfloat16_t, which has no arithmetic of its own on the device.
inline float ToFloat(const bfloat16_t &value) { return static_cast<float>(value); }
inline bfloat16_t ToBfloat16(const float &value) { return bfloat16_t(value); }

template <class T>
constexpr T AlignUp(T value, T unit)
{
    return unit == 0 ? value : (value + unit - 1) / unit * unit;
}
template <class T>
constexpr T CeilDivision(T value, T unit)
{
    return unit == 0 ? 0 : (value + unit - 1) / unit;
}

}  // namespace AscendC

inline int64_t get_block_idx() { return opdev_sim::current().block_idx; }
inline int64_t get_block_num() { return opdev_sim::current().block_num; }
inline int64_t get_subblockid() { return opdev_sim::current().sub_block_idx; }
inline int64_t get_subblockdim() { return opdev_sim::current().sub_block_num; }
