// Transfers between GM and UB.  Into UB they are complete on return; out of UB they wait for MTE3.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <cstring>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/ascendc/tensor.h"
#include "opdev_sim/order.h"

namespace AscendC {

// Lengths and gaps in blocks of 32 bytes for DataCopy; DataCopyPad counts bytes, and bytes in GM gaps.
/// blockCount 块，每块 blockLen × 32 字节；间隔也以 32 字节计。
/// blockCount blocks of blockLen × 32 bytes; gaps count 32 bytes, too.
struct DataCopyParams {
    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    union {
        uint16_t srcStride = 0;
        uint16_t srcGap;
    };
    union {
        uint16_t dstStride = 0;
        uint16_t dstGap;
    };
    constexpr DataCopyParams() = default;
    constexpr DataCopyParams(uint16_t count, uint16_t length, uint16_t source, uint16_t destination)
        : blockCount(count), blockLen(length), srcStride(source), dstStride(destination)
    {
    }
};

/// blockCount 块，每块 blockLen 字节；UB 侧间隔以 32 字节计，GM 侧以字节计。
/// blockCount blocks of blockLen bytes; gaps count 32 bytes in UB and bytes in GM.
struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    int64_t srcStride = 0;
    int64_t dstStride = 0;
    uint32_t rsv = 0;
    constexpr DataCopyExtParams() = default;
    constexpr DataCopyExtParams(uint16_t count, uint32_t length, int64_t source, int64_t destination, uint32_t reserved)
        : blockCount(count), blockLen(length), srcStride(source), dstStride(destination), rsv(reserved)
    {
    }
};

struct DataCopyPadParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
    DataCopyPadParams() = default;
    DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
};

/// 每块左右各补几个元素，补什么值。
/// How many elements are padded on each side of a block, and with what.
template <class T>
struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = T(0);
    DataCopyPadExtParams() = default;
    template <class V>
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, V value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(static_cast<T>(value))
    {
    }
};

}  // namespace AscendC

namespace opdev_sim {

constexpr uint64_t block_bytes = 32;

inline uint64_t whole_blocks(uint64_t bytes) { return (bytes + block_bytes - 1) / block_bytes * block_bytes; }
inline uint64_t span(const Rows &rows, uint64_t stride) { return rows.rows == 0 ? 0 : (rows.rows - 1) * stride + rows.length; }

template <class T>
inline void check_block(const AscendC::LocalTensor<T> &local, const char *what, Site at)
{
    const uint64_t offset = reinterpret_cast<uint64_t>(local.GetPhyAddr()) % block_bytes;
    if (offset != 0) {
        fault(kind::alignment, at,
              "%s: the local tensor starts %llu bytes past a 32-byte block, which the engine cannot address",
              "%s：LocalTensor 的起点比 32 字节边界多 %llu 字节，引擎无法寻址", what, static_cast<Count>(offset));
    }
}

inline void check_whole(uint64_t bytes, const char *what, Site at)
{
    if (bytes % block_bytes != 0) {
        fault(kind::alignment, at,
              "%s moves %llu bytes, not a multiple of 32: the tail is lost on the device; use DataCopyPad",
              "%s 搬 %llu 字节，不是 32 的倍数：在设备上尾部会丢；请用 DataCopyPad", what, static_cast<Count>(bytes));
    }
}

template <class T>
inline void load(const AscendC::LocalTensor<T> &to, const AscendC::GlobalTensor<T> &from, const Rows &rows,
                 uint64_t left, const char *what, Site at)
{
    check_block(to, what, at);
    to.check(left + span(rows, rows.dst_stride), what, at);
    from.check(0, (span(rows, rows.src_stride) + sizeof(T) - 1) / sizeof(T), what, at);
    move(reinterpret_cast<uint8_t *>(to.GetPhyAddr()) + left, from.GetPhyAddr(), rows, what, at);
}

template <class T>
inline void store(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &from, const Rows &rows,
                  const char *what, Site at)
{
    check_block(from, what, at);
    from.check(span(rows, rows.src_stride), what, at);
    to.check(0, (span(rows, rows.dst_stride) + sizeof(T) - 1) / sizeof(T), what, at);
    issue(mte, to.GetPhyAddr(), from.GetPhyAddr(), rows, my_pe(), what, at);
}

}  // namespace opdev_sim

namespace AscendC {

/// GM 与 UB 之间搬运，按 32 字节整块；尾部不齐用 DataCopyPad。
/// Copies between GM and UB in whole 32-byte blocks; use DataCopyPad for a tail.
template <class T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, uint32_t elements, Site at = here())
{
    const uint64_t bytes = static_cast<uint64_t>(elements) * sizeof(T);
    opdev_sim::check_whole(bytes, "DataCopy", at);
    opdev_sim::load(dst, src, {1, bytes, bytes, bytes}, 0, "DataCopy", at);
}

/// GM 与 UB 之间搬运，按 32 字节整块；尾部不齐用 DataCopyPad。
/// Copies between GM and UB in whole 32-byte blocks; use DataCopyPad for a tail.
template <class T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, uint32_t elements, Site at = here())
{
    const uint64_t bytes = static_cast<uint64_t>(elements) * sizeof(T);
    opdev_sim::check_whole(bytes, "DataCopy", at);
    opdev_sim::store(dst, src, {1, bytes, bytes, bytes}, "DataCopy", at);
}

/// GM 与 UB 之间搬运，按 32 字节整块；尾部不齐用 DataCopyPad。
/// Copies between GM and UB in whole 32-byte blocks; use DataCopyPad for a tail.
template <class T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t elements, Site at = here())
{
    const uint64_t bytes = static_cast<uint64_t>(elements) * sizeof(T);
    opdev_sim::check_whole(bytes, "DataCopy", at);
    src.check(bytes, "DataCopy", at);
    dst.check(bytes, "DataCopy", at);
    std::memmove(dst.GetPhyAddr(), src.GetPhyAddr(), bytes);
}

inline opdev_sim::Rows block_rows(const DataCopyParams &how)
{
    const uint64_t length = how.blockLen * opdev_sim::block_bytes;
    return {how.blockCount, length, length + how.dstStride * opdev_sim::block_bytes,
            length + how.srcStride * opdev_sim::block_bytes};
}

/// GM 与 UB 之间搬运，按 32 字节整块；尾部不齐用 DataCopyPad。
/// Copies between GM and UB in whole 32-byte blocks; use DataCopyPad for a tail.
template <class T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &how, Site at = here())
{
    opdev_sim::load(dst, src, block_rows(how), 0, "DataCopy", at);
}

/// GM 与 UB 之间搬运，按 32 字节整块；尾部不齐用 DataCopyPad。
/// Copies between GM and UB in whole 32-byte blocks; use DataCopyPad for a tail.
template <class T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &how, Site at = here())
{
    opdev_sim::store(dst, src, block_rows(how), "DataCopy", at);
}

/// GM 与 UB 之间搬运，按 32 字节整块；尾部不齐用 DataCopyPad。
/// Copies between GM and UB in whole 32-byte blocks; use DataCopyPad for a tail.
template <class T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &how, Site at = here())
{
    const opdev_sim::Rows rows = block_rows(how);
    src.check(opdev_sim::span(rows, rows.src_stride), "DataCopy", at);
    dst.check(opdev_sim::span(rows, rows.dst_stride), "DataCopy", at);
    for (uint64_t row = 0; row < rows.rows; ++row) {
        std::memmove(reinterpret_cast<uint8_t *>(dst.GetPhyAddr()) + row * rows.dst_stride,
                     reinterpret_cast<const uint8_t *>(src.GetPhyAddr()) + row * rows.src_stride, rows.length);
    }
}

/// 按字节搬运，可补齐；用于不足 32 字节的尾块。
/// Copies by bytes and pads where asked; for tails shorter than 32 bytes.
template <class T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &how,
                        const DataCopyPadExtParams<T> &pad, Site at = here())
{
    const uint64_t left = pad.isPad ? pad.leftPadding * sizeof(T) : 0;
    const uint64_t right = pad.isPad ? pad.rightPadding * sizeof(T) : 0;
    if (left + right >= opdev_sim::block_bytes + sizeof(T)) {
        opdev_sim::fault(opdev_sim::kind::unsupported, at, "DataCopyPad pads at most 32 bytes a side; this asks for %llu",
                         "DataCopyPad 每侧最多补 32 字节，这里是 %llu", static_cast<opdev_sim::Count>(left + right));
    }
    const uint64_t row = opdev_sim::whole_blocks(left + how.blockLen + right) +
                         static_cast<uint64_t>(how.dstStride) * opdev_sim::block_bytes;
    const opdev_sim::Rows rows{how.blockCount, how.blockLen, row, static_cast<uint64_t>(how.blockLen + how.srcStride)};
    opdev_sim::load(dst, src, rows, left, "DataCopyPad", at);
    if (pad.isPad) {
        dst.check(opdev_sim::span(rows, row) + left + right, "DataCopyPad", at);
        for (uint64_t index = 0; index < rows.rows; ++index) {
            T *start = reinterpret_cast<T *>(reinterpret_cast<uint8_t *>(dst.GetPhyAddr()) + index * row);
            std::fill_n(start, pad.leftPadding, pad.paddingValue);
            std::fill_n(reinterpret_cast<T *>(reinterpret_cast<uint8_t *>(start) + left + how.blockLen),
                        pad.rightPadding, pad.paddingValue);
        }
    }
}

/// 按字节搬运，可补齐；用于不足 32 字节的尾块。
/// Copies by bytes and pads where asked; for tails shorter than 32 bytes.
template <class T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &how,
                        const DataCopyPadParams &pad, Site at = here())
{
    T value;
    std::memcpy(&value, &pad.paddingValue, sizeof(T));
    DataCopyPad(dst, src, DataCopyExtParams(how.blockCount, how.blockLen, how.srcStride, how.dstStride, 0),
                DataCopyPadExtParams<T>(pad.isPad, pad.leftPadding, pad.rightPadding, value), at);
}

/// 按字节搬运，可补齐；用于不足 32 字节的尾块。
/// Copies by bytes and pads where asked; for tails shorter than 32 bytes.
template <class T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &how,
                        Site at = here())
{
    const uint64_t row = opdev_sim::whole_blocks(how.blockLen) +
                         static_cast<uint64_t>(how.srcStride) * opdev_sim::block_bytes;
    opdev_sim::store(dst, src, {how.blockCount, how.blockLen, static_cast<uint64_t>(how.blockLen + how.dstStride), row},
                     "DataCopyPad", at);
}

/// 按字节搬运，可补齐；用于不足 32 字节的尾块。
/// Copies by bytes and pads where asked; for tails shorter than 32 bytes.
template <class T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &how,
                        Site at = here())
{
    DataCopyPad(dst, src, DataCopyExtParams(how.blockCount, how.blockLen, how.srcStride, how.dstStride, 0), at);
}

// What the next copies out of UB do with the bytes that are there.
template <class T>
inline void set_atomic(opdev_sim::AtomicOp operation)
{
    static_assert(opdev_sim::is_float16<T>::value || std::is_same<T, float>::value ||
                      std::is_same<T, int8_t>::value || std::is_same<T, int16_t>::value ||
                      std::is_same<T, int32_t>::value,
                  "atomic copies take half, bfloat16_t, float, int8_t, int16_t or int32_t");
    opdev_sim::current().atomic = operation;
    opdev_sim::current().atomic_type = opdev_sim::element<T>();
}
/// 之后从 UB 到 GM 的搬运做累加，直到 SetAtomicNone。
/// Copies from UB to GM add from now on, until SetAtomicNone.
template <class T>
inline void SetAtomicAdd()
{
    set_atomic<T>(opdev_sim::AtomicOp::add);
}
/// 之后从 UB 到 GM 的搬运取较大值。
/// Copies from UB to GM keep the larger value from now on.
template <class T>
inline void SetAtomicMax()
{
    set_atomic<T>(opdev_sim::AtomicOp::max);
}
/// 之后从 UB 到 GM 的搬运取较小值。
/// Copies from UB to GM keep the smaller value from now on.
template <class T>
inline void SetAtomicMin()
{
    set_atomic<T>(opdev_sim::AtomicOp::min);
}
/// 结束原子累加。
/// Ends atomic copies.
inline void SetAtomicNone()
{
    opdev_sim::current().atomic = opdev_sim::AtomicOp::none;
    opdev_sim::current().atomic_type = opdev_sim::Element::none;
}
inline void DisableDmaAtomic() { SetAtomicNone(); }

}  // namespace AscendC
