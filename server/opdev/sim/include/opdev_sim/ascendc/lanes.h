// How vector instructions walk UB: a count of elements, or repeats of 256 bytes under a mask.
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/ascendc/tensor.h"

namespace AscendC {

struct UnaryRepeatParams {
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = 1;
    uint16_t srcBlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t srcRepStride = 8;
    bool halfBlock = false;
    UnaryRepeatParams() = default;
    UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat)
        : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat), srcRepStride(src_repeat)
    {
    }
};

struct BinaryRepeatParams {
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint8_t dstBlkStride = 1;
    uint8_t src0BlkStride = 1;
    uint8_t src1BlkStride = 1;
    uint8_t dstRepStride = 8;
    uint8_t src0RepStride = 8;
    uint8_t src1RepStride = 8;
    BinaryRepeatParams() = default;
    BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat,
                       uint8_t src1_repeat)
        : dstBlkStride(dst_block), src0BlkStride(src0_block), src1BlkStride(src1_block), dstRepStride(dst_repeat),
          src0RepStride(src0_repeat), src1RepStride(src1_repeat)
    {
    }
};

}  // namespace AscendC

namespace opdev_sim {

// Which lanes of a repeat take part: the first `count` ones, or the bits of two words.
struct Mask {
    uint64_t low = ~0ull;
    uint64_t high = ~0ull;

    static Mask first(uint64_t count)
    {
        Mask mask;
        mask.low = count >= 64 ? ~0ull : (1ull << count) - 1;
        mask.high = count >= 128 ? ~0ull : count > 64 ? (1ull << (count - 64)) - 1 : 0;
        return mask;
    }
    static Mask bits(const uint64_t words[2])
    {
        Mask mask;
        mask.low = words[0];
        mask.high = words[1];
        return mask;
    }
    bool has(uint32_t lane) const { return ((lane < 64 ? low >> lane : high >> (lane - 64)) & 1) != 0; }
};

// Lanes of one repeat of an instruction whose widest operand has elements of `bytes` bytes.
constexpr uint32_t lanes_of(size_t bytes) { return static_cast<uint32_t>(AscendC::ONE_REPEAT_BYTE_SIZE / bytes); }

// One operand's layout under repeats: where lane `lane` of repeat `turn` stands, in elements.
template <class T>
struct Layout {
    uint32_t block_stride;   // between the 32-byte blocks of a repeat, in blocks
    uint32_t repeat_stride;  // between repeats, in blocks
    // An operand narrower than the widest one holds a repeat's lanes in fewer blocks.
    uint32_t at(uint32_t turn, uint32_t lane) const
    {
        constexpr uint32_t per_block = AscendC::ONE_BLK_SIZE / sizeof(T);
        return turn * repeat_stride * per_block + lane / per_block * block_stride * per_block + lane % per_block;
    }
};

template <class T>
inline void check_vector(const AscendC::LocalTensor<T> &tensor, uint64_t elements, const char *what, Site at)
{
    const uint64_t offset = reinterpret_cast<uint64_t>(tensor.GetPhyAddr()) % 32;
    if (offset != 0 && elements != 0) {
        fault(kind::alignment, at,
              "%s: an operand starts %llu bytes past a 32-byte block, which the vector unit cannot address",
              "%s：有操作数的起点比 32 字节边界多 %llu 字节，向量单元无法寻址", what, static_cast<Count>(offset));
    }
    tensor.check(elements * sizeof(T), what, at);
}

template <class D, class Step>
inline void by_count(const AscendC::LocalTensor<D> &dst, int32_t count, const char *what, Site at, Step step)
{
    core(what, at);
    if (count < 0) {
        fault(kind::unsupported, at, "%s is given a count of %d", "%s 的元素个数是 %d", what, count);
    }
    check_vector(dst, static_cast<uint64_t>(count), what, at);
    for (int32_t index = 0; index < count; ++index) {
        step(static_cast<uint32_t>(index));
    }
}

template <class Step>
inline void by_repeat(Mask mask, uint32_t repeats, uint32_t lanes, Step step)
{
    for (uint32_t turn = 0; turn < repeats; ++turn) {
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            if (mask.has(lane)) {
                step(turn, lane);
            }
        }
    }
}

// Elements an operand must hold for the repeats to stay inside it.
template <class T>
inline uint64_t reach(const Layout<T> &layout, Mask mask, uint32_t repeats, uint32_t lanes)
{
    uint64_t most = 0;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        if (repeats != 0 && mask.has(lane)) {
            const uint64_t end = layout.at(repeats - 1, lane) + 1u;
            most = end > most ? end : most;
        }
    }
    return most;
}

}  // namespace opdev_sim
