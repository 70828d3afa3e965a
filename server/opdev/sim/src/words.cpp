// See opdev_sim/signal.h.
#include <cstring>

#include "atomic_move.h"
#include "opdev_sim/heap.h"
#include "opdev_sim/order.h"
#include "opdev_sim/signal.h"
#include "shared.h"

namespace opdev_sim {

namespace {

void check_aligned(const void *p, uint64_t width, const char *what, Site at)
{
    if (width != 0 && reinterpret_cast<uint64_t>(p) % width != 0 && checked(kind::alignment))
        fault(kind::alignment, at, "%s: address %p is not aligned to its %llu bytes", "%s：地址 %p 未按 %llu 字节对齐", what, p,
              static_cast<unsigned long long>(width));
}

uint64_t load_bits(const void *p, uint64_t width)
{
    switch (width) {
        case 1: return __atomic_load_n(static_cast<const uint8_t *>(p), __ATOMIC_ACQUIRE);
        case 2: return __atomic_load_n(static_cast<const uint16_t *>(p), __ATOMIC_ACQUIRE);
        case 4: return __atomic_load_n(static_cast<const uint32_t *>(p), __ATOMIC_ACQUIRE);
        default: return __atomic_load_n(static_cast<const uint64_t *>(p), __ATOMIC_ACQUIRE);
    }
}

void store_bits(void *p, uint64_t width, uint64_t bits)
{
    switch (width) {
        case 1: return __atomic_store_n(static_cast<uint8_t *>(p), static_cast<uint8_t>(bits), __ATOMIC_RELEASE);
        case 2: return __atomic_store_n(static_cast<uint16_t *>(p), static_cast<uint16_t>(bits), __ATOMIC_RELEASE);
        case 4: return __atomic_store_n(static_cast<uint32_t *>(p), static_cast<uint32_t>(bits), __ATOMIC_RELEASE);
        default: return __atomic_store_n(static_cast<uint64_t *>(p), bits, __ATOMIC_RELEASE);
    }
}

template <class Raw>
uint64_t change(Raw *p, Amo amo, uint64_t bits, uint64_t condition)
{
    auto value = static_cast<Raw>(bits);
    auto expected = static_cast<Raw>(condition);
    switch (amo) {
        case Amo::fetch: return __atomic_load_n(p, __ATOMIC_ACQUIRE);
        case Amo::set: case Amo::swap: return __atomic_exchange_n(p, value, __ATOMIC_ACQ_REL);
        case Amo::compare_swap:
            __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
            return expected;
        case Amo::bit_and: return __atomic_fetch_and(p, value, __ATOMIC_ACQ_REL);
        case Amo::bit_or: return __atomic_fetch_or(p, value, __ATOMIC_ACQ_REL);
        case Amo::bit_xor: return __atomic_fetch_xor(p, value, __ATOMIC_ACQ_REL);
        default: return 0;
    }
}

}  // namespace

void signal_op(int32_t *signal, int32_t value, int op, int pe, const char *what, Site at)
{
    if (op != 0 && op != 1)
        fault(kind::unsupported, at, "%s: operation %d is neither ACLSHMEM_SIGNAL_SET nor ADD", "%s：操作 %d 既非 ACLSHMEM_SIGNAL_SET 也非 ADD", what, op);
    check_signal_order(what, at);
    int32_t *word = translate(signal, pe, sizeof(int32_t), what, at);
    check_aligned(word, sizeof(int32_t), what, at);
    int32_t becomes = op == 0 ? value : __atomic_load_n(word, __ATOMIC_ACQUIRE) + value;
    signal_written(word, static_cast<uint32_t>(becomes), op == 0, at);
    if (op == 0) __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
    else __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    written(word, sizeof(int32_t));
}

void store_element(Element type, void *dst, uint64_t bits, int pe, const char *what, Site at)
{
    uint64_t width = size_of(type);
    void *p = translate(dst, pe, width, what, at);
    check_aligned(p, width, what, at);
    if (width >= 4) signal_written(p, bits, false, at);
    store_bits(p, width, bits);
    written(p, width);
}

uint64_t load_element(Element type, const void *src, int pe, const char *what, Site at)
{
    uint64_t width = size_of(type);
    void *p = translate(src, pe, width, what, at);
    check_aligned(p, width, what, at);
    check_read(p, width, what, at);
    return load_bits(p, width);
}

uint64_t atomic(Amo amo, Element type, void *dst, uint64_t bits, uint64_t condition, int pe, const char *what, Site at)
{
    uint64_t width = size_of(type);
    void *p = translate(dst, pe, width, what, at);
    check_aligned(p, width, what, at);
    uint64_t old = 0;
    if (amo == Amo::add) old = atomic_apply(AtomicOp::add, type, p, bits);
    else if (width == 4) old = change(static_cast<uint32_t *>(p), amo, bits, condition);
    else if (width == 8) old = change(static_cast<uint64_t *>(p), amo, bits, condition);
    else
        fault(kind::unsupported, at, "%s: only elements of 4 and 8 bytes", "%s：只支持 4 字节和 8 字节的元素", what);
    if (amo != Amo::fetch) {
        if (width >= 4) signal_written(p, load_bits(p, width), false, at);
        written(p, width);
    }
    return old;
}

}  // namespace opdev_sim
