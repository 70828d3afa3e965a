// GlobalTensor and LocalTensor: an address, a length, and a check of both at every access.
#pragma once
#pragma GCC system_header

#include <algorithm>
#include <cstdint>

#include "opdev_sim/ascendc/names.h"
#include "opdev_sim/heap.h"
#include "opdev_sim/order.h"
#include "opdev_sim/report.h"
#include "opdev_sim/wait.h"

namespace AscendC {

using opdev_sim::here;
using opdev_sim::Site;

struct TBuffAddr {
    uint32_t dataLen = 0;     // bytes; 0 when the user never said
    uint64_t bufferAddr = 0;  // UB offset, or a pointer into UB
    uint8_t logicPos = 0;
    int32_t bufferHandle = 0;
};

/// GM 中的张量；先 SetGlobalBuffer。
/// A tensor in GM; SetGlobalBuffer comes first.
template <class T>
class GlobalTensor {
public:
    using PrimType = T;

    void SetGlobalBuffer(__gm__ T *address, uint64_t elements)
    {
        address_ = address;
        elements_ = elements;
    }
    void SetGlobalBuffer(__gm__ T *address) { SetGlobalBuffer(address, unknown); }
    __gm__ T *GetPhyAddr(uint64_t offset = 0) const { return address_ + offset; }
    uint64_t GetSize() const { return elements_ == unknown ? 0 : elements_; }
    template <class Mode>
    void SetL2CacheHint(Mode)
    {
    }
    void SetL2CacheHint(CacheMode) {}

    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor rest;
        rest.address_ = address_ + offset;
        rest.elements_ = elements_ == unknown || offset > elements_ ? elements_ : elements_ - offset;
        if (elements_ != unknown && offset > elements_) {
            rest.elements_ = 0;
        }
        return rest;
    }
    T GetValue(uint64_t offset, Site at = here()) const
    {
        check(offset, 1, "GlobalTensor::GetValue", at);
        opdev_sim::check_read(address_ + offset, sizeof(T), "GlobalTensor::GetValue", at);
        opdev_sim::polled(address_ + offset, at);
        return *const_cast<const volatile T *>(address_ + offset);
    }
    void SetValue(uint64_t offset, T value, Site at = here()) const
    {
        check(offset, 1, "GlobalTensor::SetValue", at);
        address_[offset] = value;
        opdev_sim::written(address_ + offset, sizeof(T));
    }
    T &operator()(uint64_t offset) const { return address_[offset]; }
    template <class U>
    GlobalTensor<U> ReinterpretCast() const
    {
        GlobalTensor<U> other;
        other.SetGlobalBuffer(reinterpret_cast<U *>(address_),
                              elements_ == unknown ? unknown : elements_ * sizeof(T) / sizeof(U));
        return other;
    }

    // Elements [offset, offset + count) belong to what SetGlobalBuffer was given, and to one allocation.
    void check(uint64_t offset, uint64_t count, const char *what, Site at) const
    {
        if (elements_ != unknown && offset + count > elements_) {
            opdev_sim::fault(opdev_sim::kind::gm_bounds, at,
                             "%s reaches element %llu of a GlobalTensor of %llu elements",
                             "%s 访问到 GlobalTensor 的第 %llu 个元素，而它只有 %llu 个", what,
                             static_cast<opdev_sim::Count>(offset + count),
                             static_cast<opdev_sim::Count>(elements_));
        }
        opdev_sim::check_gm(address_ + offset, count * sizeof(T), what, at);
    }

private:
    static constexpr uint64_t unknown = ~uint64_t{0};
    T *address_ = nullptr;
    uint64_t elements_ = unknown;
};

/// UB 中的张量。
/// A tensor in UB.
template <class T>
class LocalTensor {
public:
    using PrimType = T;
    TBuffAddr address_;

    LocalTensor() = default;
    LocalTensor(TPosition position, uint32_t address, uint32_t elements)
    {
        address_.logicPos = static_cast<uint8_t>(position);
        address_.bufferAddr = address;
        address_.dataLen = elements * static_cast<uint32_t>(sizeof(T));
    }
    explicit LocalTensor(const TBuffAddr &address) : address_(address) {}

    __ubuf__ T *GetPhyAddr(uint64_t offset = 0) const
    {
        return opdev_sim::ub<T *>(address_.bufferAddr) + offset;
    }
    uint32_t GetSize() const { return address_.dataLen / static_cast<uint32_t>(sizeof(T)); }
    uint32_t GetLength() const { return address_.dataLen; }
    void SetSize(uint32_t elements) { address_.dataLen = elements * static_cast<uint32_t>(sizeof(T)); }
    void SetBufferLen(uint32_t elements) { SetSize(elements); }
    void SetAddr(const TBuffAddr &address) { address_ = address; }
    TPosition GetPosition() const { return static_cast<TPosition>(address_.logicPos); }
    void SetUserTag(uint32_t) {}

    LocalTensor operator[](uint32_t offset) const
    {
        LocalTensor rest = *this;
        const uint64_t bytes = static_cast<uint64_t>(offset) * sizeof(T);
        rest.address_.bufferAddr += bytes;
        if (address_.dataLen != 0) {
            rest.address_.dataLen -= static_cast<uint32_t>(std::min<uint64_t>(bytes, address_.dataLen));
        }
        // Past the end nothing is left; a length of 0 would mean "never said".
        if (address_.dataLen != 0 && rest.address_.dataLen == 0) {
            rest.past_end_ = true;
        }
        return rest;
    }
    T GetValue(uint32_t offset, Site at = here()) const
    {
        check((static_cast<uint64_t>(offset) + 1) * sizeof(T), "LocalTensor::GetValue", at);
        return GetPhyAddr()[offset];
    }
    template <class V>
    void SetValue(uint32_t offset, V value, Site at = here()) const
    {
        check((static_cast<uint64_t>(offset) + 1) * sizeof(T), "LocalTensor::SetValue", at);
        GetPhyAddr()[offset] = static_cast<T>(value);
    }
    T &operator()(uint32_t offset) const
    {
        check((static_cast<uint64_t>(offset) + 1) * sizeof(T), "LocalTensor::operator()", Site{});
        return GetPhyAddr()[offset];
    }
    template <class U>
    LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> other(address_);
        other.past_end_ = past_end_;
        return other;
    }

    // The first `bytes` bytes belong to the tensor and to UB.
    void check(uint64_t bytes, const char *what, Site at) const
    {
        if (bytes != 0 && (past_end_ || (address_.dataLen != 0 && bytes > address_.dataLen))) {
            opdev_sim::fault(opdev_sim::kind::ub_bounds, at,
                             "%s touches %llu bytes of a LocalTensor that has %llu",
                             "%s 用到 LocalTensor 的 %llu 字节，而它只有 %llu 字节", what,
                             static_cast<opdev_sim::Count>(bytes),
                             static_cast<opdev_sim::Count>(past_end_ ? 0 : address_.dataLen));
        }
        opdev_sim::check_ub(GetPhyAddr(), bytes, what, at);
    }

private:
    template <class U>
    friend class LocalTensor;
    bool past_end_ = false;
};

}  // namespace AscendC
