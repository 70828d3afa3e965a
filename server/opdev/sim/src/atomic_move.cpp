// See atomic_move.h.  Compare-and-swap on the element's own width works for every type.
#include "atomic_move.h"

#include <cstring>

#include "opdev_sim/types.h"

namespace opdev_sim {

namespace {

template <class T, class Raw>
uint64_t apply(AtomicOp op, void *p, uint64_t bits)
{
    auto place = static_cast<Raw *>(p);
    T operand;
    std::memcpy(&operand, &bits, sizeof operand);
    Raw before = __atomic_load_n(place, __ATOMIC_RELAXED);
    for (;;) {
        T old;
        std::memcpy(&old, &before, sizeof old);
        T now = op == AtomicOp::add   ? static_cast<T>(old + operand)
                : op == AtomicOp::max ? (old > operand ? old : operand)
                                      : (old < operand ? old : operand);
        Raw after;
        std::memcpy(&after, &now, sizeof after);
        if (__atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return before;
    }
}

}  // namespace

uint64_t atomic_apply(AtomicOp op, Element type, void *p, uint64_t bits)
{
    switch (type) {
        case Element::i8: return apply<int8_t, uint8_t>(op, p, bits);
        case Element::u8: return apply<uint8_t, uint8_t>(op, p, bits);
        case Element::i16: return apply<int16_t, uint16_t>(op, p, bits);
        case Element::u16: return apply<uint16_t, uint16_t>(op, p, bits);
        case Element::i32: return apply<int32_t, uint32_t>(op, p, bits);
        case Element::u32: return apply<uint32_t, uint32_t>(op, p, bits);
        case Element::i64: return apply<int64_t, uint64_t>(op, p, bits);
        case Element::u64: return apply<uint64_t, uint64_t>(op, p, bits);
        case Element::f16: return apply<half_t, uint16_t>(op, p, bits);
        case Element::bf16: return apply<bf16_t, uint16_t>(op, p, bits);
        case Element::f32: return apply<float, uint32_t>(op, p, bits);
        case Element::f64: return apply<double, uint64_t>(op, p, bits);
        default: return 0;
    }
}

void atomic_row(AtomicOp op, Element type, void *dst, const void *src, uint64_t bytes)
{
    uint64_t width = size_of(type);
    for (uint64_t i = 0; width != 0 && i + width <= bytes; i += width) {
        uint64_t bits = 0;
        std::memcpy(&bits, static_cast<const uint8_t *>(src) + i, width);
        atomic_apply(op, type, static_cast<uint8_t *>(dst) + i, bits);
    }
}

}  // namespace opdev_sim
