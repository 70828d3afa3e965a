// Element-wise vector instructions.  Each takes a count, or a mask with repeats and strides.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "opdev_sim/ascendc/lanes.h"

namespace opdev_sim {

template <class T, class... Allowed>
constexpr bool one_of = (std::is_same_v<T, Allowed> || ...);

// Integers wrap as the device's do; floating types compute in float and round once.
template <class T, class F>
inline T exactly(T a, T b, F f)
{
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        using Wide = std::conditional_t<(sizeof(U) < 4), uint32_t, U>;
        return static_cast<T>(f(static_cast<Wide>(a), static_cast<Wide>(b)));
    } else {
        return T(f(static_cast<float>(a), static_cast<float>(b)));
    }
}

template <class T, class F>
inline void binary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &a,
                   const AscendC::LocalTensor<T> &b, int32_t count, const char *what, Site at, F f)
{
    check_vector(a, static_cast<uint64_t>(count < 0 ? 0 : count), what, at);
    check_vector(b, static_cast<uint64_t>(count < 0 ? 0 : count), what, at);
    T *to = dst.GetPhyAddr();
    const T *left = a.GetPhyAddr();
    const T *right = b.GetPhyAddr();
    by_count(dst, count, what, at, [=](uint32_t i) { to[i] = f(left[i], right[i], to[i]); });
}

template <class T, class F>
inline void binary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &a,
                   const AscendC::LocalTensor<T> &b, Mask mask, uint8_t repeats,
                   const AscendC::BinaryRepeatParams &how, const char *what, Site at, F f)
{
    core(what, at);
    constexpr uint32_t lanes = lanes_of(sizeof(T));
    const Layout<T> to{how.dstBlkStride, how.dstRepStride};
    const Layout<T> left{how.src0BlkStride, how.src0RepStride};
    const Layout<T> right{how.src1BlkStride, how.src1RepStride};
    check_vector(dst, reach(to, mask, repeats, lanes), what, at);
    check_vector(a, reach(left, mask, repeats, lanes), what, at);
    check_vector(b, reach(right, mask, repeats, lanes), what, at);
    by_repeat(mask, repeats, lanes, [&](uint32_t turn, uint32_t lane) {
        T &place = dst.GetPhyAddr()[to.at(turn, lane)];
        place = f(a.GetPhyAddr()[left.at(turn, lane)], b.GetPhyAddr()[right.at(turn, lane)], place);
    });
}

template <class T, class F>
inline void unary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, int32_t count,
                  const char *what, Site at, F f)
{
    check_vector(src, static_cast<uint64_t>(count < 0 ? 0 : count), what, at);
    T *to = dst.GetPhyAddr();
    const T *from = src.GetPhyAddr();
    by_count(dst, count, what, at, [=](uint32_t i) { to[i] = f(from[i], to[i]); });
}

template <class T, class F>
inline void unary(const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src, Mask mask, uint8_t repeats,
                  const AscendC::UnaryRepeatParams &how, const char *what, Site at, F f)
{
    core(what, at);
    constexpr uint32_t lanes = lanes_of(sizeof(T));
    const Layout<T> to{how.dstBlkStride, how.dstRepStride};
    const Layout<T> from{how.srcBlkStride, how.srcRepStride};
    check_vector(dst, reach(to, mask, repeats, lanes), what, at);
    check_vector(src, reach(from, mask, repeats, lanes), what, at);
    by_repeat(mask, repeats, lanes, [&](uint32_t turn, uint32_t lane) {
        T &place = dst.GetPhyAddr()[to.at(turn, lane)];
        place = f(src.GetPhyAddr()[from.at(turn, lane)], place);
    });
}

}  // namespace opdev_sim

namespace AscendC {

// `old` is what the destination held, for the instructions that accumulate.
#define OPDEV_SIM_BINARY(name, types, expression)                                                            \
    template <class T>                                                                                       \
    constexpr auto name##_lane = [](T a, T b, [[maybe_unused]] T old) -> T { return expression; };           \
    template <class T, bool set_mask = true>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,      \
                     const int32_t &count, Site at = here())                                                 \
    {                                                                                                        \
        static_assert(opdev_sim::types<T>, #name " does not take this element type on the device");          \
        opdev_sim::binary(dst, src0, src1, count, #name, at, name##_lane<T>);                                \
    }                                                                                                        \
    template <class T, bool set_mask = true>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,      \
                     uint64_t mask, const uint8_t repeats, const BinaryRepeatParams &how, Site at = here())  \
    {                                                                                                        \
        static_assert(opdev_sim::types<T>, #name " does not take this element type on the device");          \
        opdev_sim::binary(dst, src0, src1, opdev_sim::Mask::first(mask), repeats, how, #name, at,            \
                          name##_lane<T>);                                                                   \
    }                                                                                                        \
    template <class T, bool set_mask = true>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,      \
                     uint64_t mask[2], const uint8_t repeats, const BinaryRepeatParams &how,                 \
                     Site at = here())                                                                       \
    {                                                                                                        \
        static_assert(opdev_sim::types<T>, #name " does not take this element type on the device");          \
        opdev_sim::binary(dst, src0, src1, opdev_sim::Mask::bits(mask), repeats, how, #name, at,             \
                          name##_lane<T>);                                                                   \
    }

#define OPDEV_SIM_SCALAR(name, types, expression)                                                            \
    template <class T, bool set_mask = true>                                                                 \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar,                  \
                     const int32_t &count, Site at = here())                                                 \
    {                                                                                                        \
        static_assert(opdev_sim::types<T>, #name " does not take this element type on the device");          \
        const T b = scalar;                                                                                  \
        opdev_sim::unary(dst, src, count, #name, at,                                                         \
                         [b](T a, [[maybe_unused]] T old) -> T { return expression; });                      \
    }                                                                                                        \
    template <class T, bool set_mask = true, class M = uint64_t>                                             \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalar, M mask,          \
                     const uint8_t repeats, const UnaryRepeatParams &how, Site at = here())                  \
    {                                                                                                        \
        static_assert(opdev_sim::types<T>, #name " does not take this element type on the device");          \
        const T b = scalar;                                                                                  \
        opdev_sim::unary(dst, src, opdev_sim::mask_of(mask), repeats, how, #name, at,                        \
                         [b](T a, [[maybe_unused]] T old) -> T { return expression; });                      \
    }

#define OPDEV_SIM_UNARY(name, types, expression)                                                             \
    template <class T>                                                                                       \
    constexpr auto name##_lane = [](T a, T) -> T { return expression; };                                     \
    template <class T>                                                                                       \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count,             \
                     Site at = here())                                                                       \
    {                                                                                                        \
        static_assert(opdev_sim::types<T>, #name " does not take this element type on the device");          \
        opdev_sim::unary(dst, src, count, #name, at, name##_lane<T>);                                        \
    }                                                                                                        \
    template <class T, bool set_mask = true, class M = uint64_t>                                             \
    inline void name(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask, const uint8_t repeats,    \
                     const UnaryRepeatParams &how, Site at = here())                                         \
    {                                                                                                        \
        static_assert(opdev_sim::types<T>, #name " does not take this element type on the device");          \
        opdev_sim::unary(dst, src, opdev_sim::mask_of(mask), repeats, how, #name, at, name##_lane<T>);       \
    }

}  // namespace AscendC

namespace opdev_sim {

template <class T>
constexpr bool arithmetic = one_of<T, half_t, float, int16_t, int32_t>;
template <class T>
constexpr bool floating = one_of<T, half_t, float>;
template <class T>
constexpr bool bitwise = one_of<T, int16_t, uint16_t>;
template <class T>
constexpr bool shifted = one_of<T, int16_t, uint16_t, int32_t, uint32_t>;

inline Mask mask_of(uint64_t count) { return Mask::first(count); }
inline Mask mask_of(const uint64_t *words) { return Mask::bits(words); }

template <class T>
inline T plus(T a, T b) { return exactly(a, b, [](auto x, auto y) { return x + y; }); }
template <class T>
inline T minus(T a, T b) { return exactly(a, b, [](auto x, auto y) { return x - y; }); }
template <class T>
inline T times(T a, T b) { return exactly(a, b, [](auto x, auto y) { return x * y; }); }
template <class T>
inline T positive(T a) { return a > T(0) ? a : T(0); }
template <class T, class F>
inline T through(T a, F f) { return T(f(static_cast<float>(a))); }

}  // namespace opdev_sim

namespace AscendC {

OPDEV_SIM_BINARY(Add, arithmetic, opdev_sim::plus(a, b))
OPDEV_SIM_BINARY(Sub, arithmetic, opdev_sim::minus(a, b))
OPDEV_SIM_BINARY(Mul, arithmetic, opdev_sim::times(a, b))
OPDEV_SIM_BINARY(Div, floating, T(static_cast<float>(a) / static_cast<float>(b)))
OPDEV_SIM_BINARY(Max, arithmetic, a > b ? a : b)
OPDEV_SIM_BINARY(Min, arithmetic, a < b ? a : b)
OPDEV_SIM_BINARY(And, bitwise, static_cast<T>(a & b))
OPDEV_SIM_BINARY(Or, bitwise, static_cast<T>(a | b))
OPDEV_SIM_BINARY(AddRelu, arithmetic, opdev_sim::positive(opdev_sim::plus(a, b)))
OPDEV_SIM_BINARY(SubRelu, arithmetic, opdev_sim::positive(opdev_sim::minus(a, b)))
OPDEV_SIM_BINARY(MulAddDst, floating, T(static_cast<float>(a) * static_cast<float>(b) + static_cast<float>(old)))
OPDEV_SIM_BINARY(FusedMulAdd, floating, T(static_cast<float>(a) * static_cast<float>(old) + static_cast<float>(b)))

OPDEV_SIM_SCALAR(Adds, arithmetic, opdev_sim::plus(a, b))
OPDEV_SIM_SCALAR(Muls, arithmetic, opdev_sim::times(a, b))
OPDEV_SIM_SCALAR(Maxs, arithmetic, a > b ? a : b)
OPDEV_SIM_SCALAR(Mins, arithmetic, a < b ? a : b)
OPDEV_SIM_SCALAR(LeakyRelu, floating, a > T(0) ? a : opdev_sim::times(a, b))
OPDEV_SIM_SCALAR(Axpy, floating, T(static_cast<float>(a) * static_cast<float>(b) + static_cast<float>(old)))
OPDEV_SIM_SCALAR(ShiftLeft, shifted, static_cast<T>(static_cast<uint64_t>(a) << b))
OPDEV_SIM_SCALAR(ShiftRight, shifted, static_cast<T>(a >> b))

OPDEV_SIM_UNARY(Abs, floating, opdev_sim::through(a, [](float x) { return std::fabs(x); }))
OPDEV_SIM_UNARY(Exp, floating, opdev_sim::through(a, [](float x) { return std::exp(x); }))
OPDEV_SIM_UNARY(Ln, floating, opdev_sim::through(a, [](float x) { return std::log(x); }))
OPDEV_SIM_UNARY(Sqrt, floating, opdev_sim::through(a, [](float x) { return std::sqrt(x); }))
OPDEV_SIM_UNARY(Rsqrt, floating, opdev_sim::through(a, [](float x) { return 1.0f / std::sqrt(x); }))
OPDEV_SIM_UNARY(Reciprocal, floating, opdev_sim::through(a, [](float x) { return 1.0f / x; }))
OPDEV_SIM_UNARY(Relu, arithmetic, opdev_sim::positive(a))
OPDEV_SIM_UNARY(Not, bitwise, static_cast<T>(~a))

#undef OPDEV_SIM_BINARY
#undef OPDEV_SIM_SCALAR
#undef OPDEV_SIM_UNARY

/// 用标量填充张量。
/// Fills a tensor with a scalar.
template <class T, bool set_mask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &value, const int32_t &count, Site at = here())
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Duplicate takes element types of 16 and 32 bits");
    T *to = dst.GetPhyAddr();
    const T copy = value;
    opdev_sim::by_count(dst, count, "Duplicate", at, [=](uint32_t i) { to[i] = copy; });
}
/// 用标量填充张量。
/// Fills a tensor with a scalar.
template <class T, bool set_mask = true, class M = uint64_t>
inline void Duplicate(const LocalTensor<T> &dst, const T &value, M mask, const uint8_t repeats,
                      const uint16_t block_stride, const uint8_t repeat_stride, Site at = here())
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Duplicate takes element types of 16 and 32 bits");
    const T copy = value;
    opdev_sim::unary(dst, dst, opdev_sim::mask_of(mask), repeats,
                     UnaryRepeatParams(block_stride, block_stride, repeat_stride, repeat_stride), "Duplicate", at,
                     [copy](T, T) { return copy; });
}

}  // namespace AscendC
