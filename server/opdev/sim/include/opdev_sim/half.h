// The 16-bit floating types of the device, for compilers that have none of their own.
//
// Values round to nearest, ties to even, once: from double they do not pass through float.  Arithmetic
// follows what C does with _Float16: half with half (or with an integer) gives half, half with a wider
// type gives the wider type.  A result of + - * / is computed in float and rounded, which is exact
// rounding because float has more than twice the digits.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace opdev_sim {

// Rounds a double to a format with `Exponent` exponent and `Digits` fraction bits (IEEE layout, 16 bits).
template <int Exponent, int Digits>
constexpr uint16_t round_to_16(double value)
{
    const uint64_t bits = __builtin_bit_cast(uint64_t, value);
    const uint16_t sign = static_cast<uint16_t>(bits >> 63 << 15);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    constexpr int bias = (1 << (Exponent - 1)) - 1;
    constexpr uint16_t infinity = static_cast<uint16_t>(((1 << Exponent) - 1) << Digits);
    if (exponent == 0x7ff) {
        // A NaN stays one: its quiet bit is set.
        return static_cast<uint16_t>(sign | infinity | (fraction != 0 ? 1 << (Digits - 1) : 0));
    }
    if (exponent == 0) {
        return sign;  // Zero, or below half of the smallest value of either format.
    }
    fraction |= uint64_t{1} << 52;
    int target = exponent - 1023 + bias;
    int drop = 52 - Digits;
    if (target <= 0) {
        drop += 1 - target;
        target = 0;
        if (drop > 54) {
            return sign;
        }
    } else {
        fraction &= ~(uint64_t{1} << 52);
    }
    uint64_t kept = fraction >> drop;
    const uint64_t rest = fraction & ((uint64_t{1} << drop) - 1);
    const uint64_t tie = uint64_t{1} << (drop - 1);
    if (rest > tie || (rest == tie && (kept & 1) != 0)) {
        ++kept;
    }
    // A carry out of the fraction moves into the exponent, up to infinity, which is what is wanted.
    const uint64_t result = (static_cast<uint64_t>(target) << Digits) + kept;
    return static_cast<uint16_t>(sign | (result >= infinity ? infinity : static_cast<uint16_t>(result)));
}

template <int Exponent, int Digits>
constexpr float widen_16(uint16_t bits)
{
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> Digits & ((1u << Exponent) - 1);
    const uint32_t fraction = bits & ((1u << Digits) - 1);
    constexpr uint32_t bias = (1u << (Exponent - 1)) - 1;
    uint32_t wide = 0;
    if (exponent == (1u << Exponent) - 1) {
        wide = sign | 0x7f800000u | fraction << (23 - Digits);
    } else if (exponent != 0) {
        wide = sign | (exponent - bias + 127) << 23 | fraction << (23 - Digits);
    } else if constexpr (Exponent == 8) {
        wide = sign | fraction << (23 - Digits);
    } else {
        // Subnormal: the fraction in units of the smallest value, exact in float.
        const float value = static_cast<float>(fraction) / static_cast<float>(1u << (bias - 1 + Digits));
        wide = sign | __builtin_bit_cast(uint32_t, value);
    }
    return __builtin_bit_cast(float, wide);
}

template <int Exponent, int Digits>
struct Float16 {
    uint16_t bits;

    Float16() = default;
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
    constexpr Float16(T value) : bits(round_to_16<Exponent, Digits>(static_cast<double>(value)))
    {
    }
    template <int E, int D, std::enable_if_t<E != Exponent, int> = 0>
    constexpr explicit Float16(Float16<E, D> other) : Float16(static_cast<float>(other))
    {
    }
    static constexpr Float16 of_bits(uint16_t bits)
    {
        Float16 made(0);
        made.bits = bits;
        return made;
    }

    constexpr operator float() const { return widen_16<Exponent, Digits>(bits); }

    constexpr Float16 operator-() const { return of_bits(static_cast<uint16_t>(bits ^ 0x8000)); }
    constexpr Float16 operator+() const { return *this; }
    Float16 &operator++() { return *this = *this + Float16(1); }
    Float16 &operator--() { return *this = *this - Float16(1); }

#define OPDEV_SIM_ARITHMETIC(op)                                                                            \
    friend constexpr Float16 operator op(Float16 a, Float16 b)                                              \
    {                                                                                                       \
        return Float16(static_cast<float>(a) op static_cast<float>(b));                                     \
    }                                                                                                       \
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>                             \
    friend constexpr auto operator op(Float16 a, T b)                                                       \
    {                                                                                                       \
        if constexpr (std::is_integral<T>::value) {                                                         \
            return a op Float16(b);                                                                         \
        } else {                                                                                            \
            return static_cast<float>(a) op b;                                                              \
        }                                                                                                   \
    }                                                                                                       \
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>                             \
    friend constexpr auto operator op(T a, Float16 b)                                                       \
    {                                                                                                       \
        if constexpr (std::is_integral<T>::value) {                                                         \
            return Float16(a) op b;                                                                         \
        } else {                                                                                            \
            return a op static_cast<float>(b);                                                              \
        }                                                                                                   \
    }                                                                                                       \
    template <class T>                                                                                      \
    Float16 &operator op##=(T b)                                                                            \
    {                                                                                                       \
        return *this = Float16(*this op b);                                                                 \
    }
    OPDEV_SIM_ARITHMETIC(+)
    OPDEV_SIM_ARITHMETIC(-)
    OPDEV_SIM_ARITHMETIC(*)
    OPDEV_SIM_ARITHMETIC(/)
#undef OPDEV_SIM_ARITHMETIC

#define OPDEV_SIM_COMPARISON(op)                                                                            \
    friend constexpr bool operator op(Float16 a, Float16 b)                                                 \
    {                                                                                                       \
        return static_cast<float>(a) op static_cast<float>(b);                                              \
    }                                                                                                       \
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>                             \
    friend constexpr bool operator op(Float16 a, T b)                                                       \
    {                                                                                                       \
        return static_cast<double>(static_cast<float>(a)) op static_cast<double>(b);                        \
    }                                                                                                       \
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>                             \
    friend constexpr bool operator op(T a, Float16 b)                                                       \
    {                                                                                                       \
        return static_cast<double>(a) op static_cast<double>(static_cast<float>(b));                        \
    }
    OPDEV_SIM_COMPARISON(==)
    OPDEV_SIM_COMPARISON(!=)
    OPDEV_SIM_COMPARISON(<)
    OPDEV_SIM_COMPARISON(<=)
    OPDEV_SIM_COMPARISON(>)
    OPDEV_SIM_COMPARISON(>=)
#undef OPDEV_SIM_COMPARISON
};

using half_t = Float16<5, 10>;
using bf16_t = Float16<8, 7>;

static_assert(sizeof(half_t) == 2 && std::is_trivially_copyable<half_t>::value, "half is copied as bytes");

template <class T>
struct is_float16 : std::false_type {
};
template <int E, int D>
struct is_float16<Float16<E, D>> : std::true_type {
};

}  // namespace opdev_sim

using half = opdev_sim::half_t;
using float16_t = opdev_sim::half_t;
using bfloat16_t = opdev_sim::bf16_t;

namespace std {
template <int E, int D>
class numeric_limits<opdev_sim::Float16<E, D>> {
    using Type = opdev_sim::Float16<E, D>;
    static constexpr uint16_t top = static_cast<uint16_t>(((1 << E) - 1) << D);

public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_integer = false;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static constexpr int digits = D + 1;
    static constexpr Type max() { return Type::of_bits(static_cast<uint16_t>(top - 1)); }
    static constexpr Type lowest() { return -max(); }
    static constexpr Type min() { return Type::of_bits(static_cast<uint16_t>(1 << D)); }
    static constexpr Type epsilon() { return Type(1.0 / (1 << D)); }
    static constexpr Type infinity() { return Type::of_bits(top); }
    static constexpr Type quiet_NaN() { return Type::of_bits(static_cast<uint16_t>(top | 1 << (D - 1))); }
};
}  // namespace std
