// The kinds of element that waits, atomics and typed transfers tell apart.
#pragma once
#include <cstdint>
#include <type_traits>

#include "opdev_sim/context.h"
#include "opdev_sim/half.h"

namespace opdev_sim {

template <class T>
constexpr Element element()
{
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, half_t>) return Element::f16;
    else if constexpr (std::is_same_v<U, bf16_t>) return Element::bf16;
    else if constexpr (std::is_same_v<U, float>) return Element::f32;
    else if constexpr (std::is_same_v<U, double>) return Element::f64;
    else if constexpr (std::is_integral_v<U> && sizeof(U) == 1) return std::is_signed_v<U> ? Element::i8 : Element::u8;
    else if constexpr (std::is_integral_v<U> && sizeof(U) == 2) return std::is_signed_v<U> ? Element::i16 : Element::u16;
    else if constexpr (std::is_integral_v<U> && sizeof(U) == 4) return std::is_signed_v<U> ? Element::i32 : Element::u32;
    else if constexpr (std::is_integral_v<U> && sizeof(U) == 8) return std::is_signed_v<U> ? Element::i64 : Element::u64;
    else return Element::none;
}
constexpr uint64_t size_of(Element e)
{
    switch (e) {
        case Element::i8: case Element::u8: return 1;
        case Element::i16: case Element::u16: case Element::f16: case Element::bf16: return 2;
        case Element::i32: case Element::u32: case Element::f32: return 4;
        case Element::i64: case Element::u64: case Element::f64: return 8;
        default: return 0;
    }
}

}  // namespace opdev_sim
