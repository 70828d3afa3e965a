// Comparisons of values whose type is only known at run time.
#include "opdev_sim/heap.h"
#include "opdev_sim/wait.h"

namespace opdev_sim {

namespace {

template <class T>
bool compare(const void *p, int cmp, uint64_t bits)
{
    T left;
    T right;
    std::memcpy(&left, p, sizeof left);
    std::memcpy(&right, &bits, sizeof right);
    switch (cmp) {
        case eq: return left == right;
        case ne: return left != right;
        case gt: return left > right;
        case ge: return left >= right;
        case lt: return left < right;
        default: return left <= right;
    }
}

}  // namespace

bool holds(Element type, const void *p, int cmp, uint64_t bits)
{
    switch (type) {
        case Element::i8: return compare<int8_t>(p, cmp, bits);
        case Element::u8: return compare<uint8_t>(p, cmp, bits);
        case Element::i16: return compare<int16_t>(p, cmp, bits);
        case Element::u16: return compare<uint16_t>(p, cmp, bits);
        case Element::i32: return compare<int32_t>(p, cmp, bits);
        case Element::u32: return compare<uint32_t>(p, cmp, bits);
        case Element::i64: return compare<int64_t>(p, cmp, bits);
        case Element::u64: return compare<uint64_t>(p, cmp, bits);
        case Element::f16: return compare<half_t>(p, cmp, bits);
        case Element::bf16: return compare<bf16_t>(p, cmp, bits);
        case Element::f32: return compare<float>(p, cmp, bits);
        case Element::f64: return compare<double>(p, cmp, bits);
        default: return false;
    }
}

}  // namespace opdev_sim
