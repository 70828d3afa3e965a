// Reductions and the instructions that move whole blocks inside UB.
//
// Sums add neighbours pairwise, as the vector unit does, so float results differ from a running sum.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <cstring>
#include <vector>

#include "opdev_sim/ascendc/vector.h"

namespace opdev_sim {

template <class T>
inline float pairwise(const T *values, uint32_t count)
{
    if (count == 0) {
        return 0.0f;
    }
    std::vector<float> level(values, values + count);
    while (level.size() > 1) {
        std::vector<float> next;
        for (size_t index = 0; index < level.size(); index += 2) {
            next.push_back(index + 1 < level.size() ? level[index] + level[index + 1] : level[index]);
        }
        level.swap(next);
    }
    return level[0];
}

// The best element of src[0, count) and where it is; the first one of equals.
template <class T, class Better>
inline uint32_t best_of(const T *values, uint32_t count, Better better)
{
    uint32_t best = 0;
    for (uint32_t index = 1; index < count; ++index) {
        if (better(values[index], values[best])) {
            best = index;
        }
    }
    return best;
}

template <class T, class Better>
inline void extreme(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                    const AscendC::LocalTensor<T> &work, int32_t count, bool index_too, const char *what, Site at,
                    Better better)
{
    static_assert(floating<T>, "ReduceMax and ReduceMin take half or float");
    core(what, at);
    if (count <= 0) {
        fault(kind::unsupported, at, "%s is given a count of %d", "%s 的元素个数是 %d", what, count);
    }
    check_vector(src, static_cast<uint64_t>(count), what, at);
    check_vector(dst, index_too ? 2 : 1, what, at);
    check_vector(work, 1, what, at);
    const uint32_t at_index = best_of(src.GetPhyAddr(), static_cast<uint32_t>(count), better);
    const T value = src.GetPhyAddr()[at_index];
    dst.GetPhyAddr()[0] = value;
    if (index_too) {
        // The index is stored as the bits of an integer of the element's width.
        std::memcpy(dst.GetPhyAddr() + 1, &at_index, sizeof(T));
    }
}

}  // namespace opdev_sim

namespace AscendC {

template <class T, bool set_mask = true>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,
                      const int32_t count, Site at = here())
{
    static_assert(opdev_sim::floating<T>, "ReduceSum takes half or float");
    opdev_sim::core("ReduceSum", at);
    const uint32_t elements = static_cast<uint32_t>(count < 0 ? 0 : count);
    opdev_sim::check_vector(src, elements, "ReduceSum", at);
    opdev_sim::check_vector(dst, 1, "ReduceSum", at);
    constexpr uint32_t lanes = opdev_sim::lanes_of(sizeof(T));
    // The sums of the repeats go through the work tensor, rounded to the element type.
    std::vector<T> sums;
    for (uint32_t start = 0; start < elements; start += lanes) {
        const uint32_t now = elements - start < lanes ? elements - start : lanes;
        sums.push_back(T(opdev_sim::pairwise(src.GetPhyAddr() + start, now)));
    }
    opdev_sim::check_vector(work, sums.size(), "ReduceSum", at);
    dst.GetPhyAddr()[0] = T(opdev_sim::pairwise(sums.data(), static_cast<uint32_t>(sums.size())));
}

template <class T>
inline void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,
                      const int32_t count, bool index = false, Site at = here())
{
    opdev_sim::extreme(dst, src, work, count, index, "ReduceMax", at, [](T a, T b) { return a > b; });
}
template <class T>
inline void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &work,
                      const int32_t count, bool index = false, Site at = here())
{
    opdev_sim::extreme(dst, src, work, count, index, "ReduceMin", at, [](T a, T b) { return a < b; });
}

// One sum per repeat.
template <class T, bool set_mask = true>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask,
                           const int32_t repeats, const int32_t dst_stride, const int32_t block_stride,
                           const int32_t repeat_stride, Site at = here())
{
    static_assert(opdev_sim::floating<T>, "WholeReduceSum takes half or float");
    opdev_sim::core("WholeReduceSum", at);
    const opdev_sim::Mask on = opdev_sim::Mask::first(static_cast<uint64_t>(mask));
    constexpr uint32_t lanes = opdev_sim::lanes_of(sizeof(T));
    const opdev_sim::Layout<T> from{static_cast<uint32_t>(block_stride), static_cast<uint32_t>(repeat_stride)};
    const uint32_t turns = static_cast<uint32_t>(repeats < 0 ? 0 : repeats);
    opdev_sim::check_vector(src, opdev_sim::reach(from, on, turns, lanes), "WholeReduceSum", at);
    opdev_sim::check_vector(dst, turns == 0 ? 0 : (turns - 1) * static_cast<uint64_t>(dst_stride) + 1, "WholeReduceSum", at);
    for (uint32_t turn = 0; turn < turns; ++turn) {
        std::vector<T> lane_values;
        for (uint32_t lane = 0; lane < lanes && on.has(lane); ++lane) {
            lane_values.push_back(src.GetPhyAddr()[from.at(turn, lane)]);
        }
        dst.GetPhyAddr()[turn * static_cast<uint32_t>(dst_stride)] =
            T(opdev_sim::pairwise(lane_values.data(), static_cast<uint32_t>(lane_values.size())));
    }
}

// One sum per block of 32 bytes, eight per repeat.
template <class T, bool set_mask = true>
inline void BlockReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeats,
                           const int32_t mask, const int32_t dst_stride, const int32_t block_stride,
                           const int32_t repeat_stride, Site at = here())
{
    static_assert(opdev_sim::floating<T>, "BlockReduceSum takes half or float");
    opdev_sim::core("BlockReduceSum", at);
    const opdev_sim::Mask on = opdev_sim::Mask::first(static_cast<uint64_t>(mask));
    constexpr uint32_t lanes = opdev_sim::lanes_of(sizeof(T));
    constexpr uint32_t per_block = ONE_BLK_SIZE / sizeof(T);
    const opdev_sim::Layout<T> from{static_cast<uint32_t>(block_stride), static_cast<uint32_t>(repeat_stride)};
    const uint32_t turns = static_cast<uint32_t>(repeats < 0 ? 0 : repeats);
    opdev_sim::check_vector(src, opdev_sim::reach(from, on, turns, lanes), "BlockReduceSum", at);
    opdev_sim::check_vector(dst, turns == 0 ? 0 : (turns - 1) * static_cast<uint64_t>(dst_stride) * 8 + 8,
                            "BlockReduceSum", at);
    for (uint32_t turn = 0; turn < turns; ++turn) {
        for (uint32_t block = 0; block < 8; ++block) {
            std::vector<T> lane_values;
            for (uint32_t lane = block * per_block; lane < (block + 1) * per_block; ++lane) {
                if (on.has(lane)) {
                    lane_values.push_back(src.GetPhyAddr()[from.at(turn, lane)]);
                }
            }
            dst.GetPhyAddr()[turn * static_cast<uint32_t>(dst_stride) * 8 + block] =
                T(opdev_sim::pairwise(lane_values.data(), static_cast<uint32_t>(lane_values.size())));
        }
    }
}

// dst[i] = src at byte offset offsets[i] behind base.
template <class T>
inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offsets,
                   const uint32_t base, const uint32_t count, Site at = here())
{
    opdev_sim::check_vector(offsets, count, "Gather", at);
    T *to = dst.GetPhyAddr();
    opdev_sim::by_count(dst, static_cast<int32_t>(count), "Gather", at, [&](uint32_t i) {
        const uint64_t from = base + static_cast<uint64_t>(offsets.GetPhyAddr()[i]);
        src.check(from + sizeof(T), "Gather", at);
        std::memcpy(&to[i], reinterpret_cast<const uint8_t *>(src.GetPhyAddr()) + from, sizeof(T));
    });
}

template <class T>
inline void CreateVecIndex(const LocalTensor<T> &dst, const T &first, uint32_t count, Site at = here())
{
    T *to = dst.GetPhyAddr();
    opdev_sim::by_count(dst, static_cast<int32_t>(count), "CreateVecIndex", at,
                        [=](uint32_t i) { to[i] = T(static_cast<float>(first) + static_cast<float>(i)); });
}

// One bit per element: whether src0 compares true with src1 (or with a number).
template <class T>
inline bool compares(T a, T b, CMPMODE mode)
{
    switch (mode) {
        case CMPMODE::LT: return a < b;
        case CMPMODE::GT: return a > b;
        case CMPMODE::EQ: return a == b;
        case CMPMODE::LE: return a <= b;
        case CMPMODE::GE: return a >= b;
        default: return a != b;
    }
}
template <class T, class U>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode,
                    uint32_t count, Site at = here())
{
    static_assert(sizeof(U) == 1, "Compare writes one bit per element into bytes");
    opdev_sim::core("Compare", at);
    opdev_sim::check_vector(src0, count, "Compare", at);
    opdev_sim::check_vector(src1, count, "Compare", at);
    opdev_sim::check_vector(dst, (count + 7) / 8, "Compare", at);
    std::memset(dst.GetPhyAddr(), 0, (count + 7) / 8);
    for (uint32_t i = 0; i < count; ++i) {
        if (compares(src0.GetPhyAddr()[i], src1.GetPhyAddr()[i], mode)) {
            dst.GetPhyAddr()[i / 8] = static_cast<U>(dst.GetPhyAddr()[i / 8] | 1u << i % 8);
        }
    }
}
template <class T, class U>
inline void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T scalar, CMPMODE mode,
                          uint32_t count, Site at = here())
{
    static_assert(sizeof(U) == 1, "CompareScalar writes one bit per element into bytes");
    opdev_sim::core("CompareScalar", at);
    opdev_sim::check_vector(src0, count, "CompareScalar", at);
    opdev_sim::check_vector(dst, (count + 7) / 8, "CompareScalar", at);
    std::memset(dst.GetPhyAddr(), 0, (count + 7) / 8);
    for (uint32_t i = 0; i < count; ++i) {
        if (compares(src0.GetPhyAddr()[i], scalar, mode)) {
            dst.GetPhyAddr()[i / 8] = static_cast<U>(dst.GetPhyAddr()[i / 8] | 1u << i % 8);
        }
    }
}
template <class T, class U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &mask, const LocalTensor<T> &src0,
                   const LocalTensor<T> &src1, SELMODE, uint32_t count, Site at = here())
{
    opdev_sim::check_vector(mask, (count + 8 * sizeof(U) - 1) / (8 * sizeof(U)), "Select", at);
    opdev_sim::check_vector(src0, count, "Select", at);
    opdev_sim::check_vector(src1, count, "Select", at);
    const uint8_t *bits = reinterpret_cast<const uint8_t *>(mask.GetPhyAddr());
    T *to = dst.GetPhyAddr();
    opdev_sim::by_count(dst, static_cast<int32_t>(count), "Select", at, [&](uint32_t i) {
        to[i] = (bits[i / 8] >> i % 8 & 1) != 0 ? src0.GetPhyAddr()[i] : src1.GetPhyAddr()[i];
    });
}
template <class T, class U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &mask, const LocalTensor<T> &src0, T src1,
                   SELMODE, uint32_t count, Site at = here())
{
    opdev_sim::check_vector(mask, (count + 8 * sizeof(U) - 1) / (8 * sizeof(U)), "Select", at);
    opdev_sim::check_vector(src0, count, "Select", at);
    const uint8_t *bits = reinterpret_cast<const uint8_t *>(mask.GetPhyAddr());
    T *to = dst.GetPhyAddr();
    opdev_sim::by_count(dst, static_cast<int32_t>(count), "Select", at, [&](uint32_t i) {
        to[i] = (bits[i / 8] >> i % 8 & 1) != 0 ? src0.GetPhyAddr()[i] : src1;
    });
}

}  // namespace AscendC
