// Cast between element types, by rounding mode; out-of-range values saturate as on the device.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <cstdint>
#include <limits>

#include "opdev_sim/ascendc/vector.h"

namespace opdev_sim {

inline double rounded(double value, AscendC::RoundMode mode)
{
    switch (mode) {
        case AscendC::RoundMode::CAST_FLOOR: return std::floor(value);
        case AscendC::RoundMode::CAST_CEIL: return std::ceil(value);
        case AscendC::RoundMode::CAST_TRUNC: return std::trunc(value);
        case AscendC::RoundMode::CAST_ROUND: return std::round(value);
        default: return std::nearbyint(value);  // ties to even
    }
}

// A narrower floating value in a given mode: the neighbour the mode asks for.
template <class D>
inline D narrowed(float value, AscendC::RoundMode mode)
{
    D nearest(value);
    const float back = static_cast<float>(nearest);
    if (std::isnan(value) || back == value || mode == AscendC::RoundMode::CAST_NONE ||
        mode == AscendC::RoundMode::CAST_RINT) {
        return nearest;
    }
    const auto towards = [&](bool up) {
        if ((back > value) == up && back != value) {
            return nearest;
        }
        // One step along the line of representable values; the sign bit turns the direction round.
        const bool negative = (nearest.bits & 0x8000) != 0 || (back == 0 && !up);
        const uint16_t magnitude = static_cast<uint16_t>(nearest.bits & 0x7fff);
        const bool grow = magnitude == 0 || negative != up;
        const uint16_t sign = negative ? 0x8000 : 0;
        return D::of_bits(static_cast<uint16_t>(sign | static_cast<uint16_t>(grow ? magnitude + 1 : magnitude - 1)));
    };
    switch (mode) {
        case AscendC::RoundMode::CAST_FLOOR: return towards(false);
        case AscendC::RoundMode::CAST_CEIL: return towards(true);
        case AscendC::RoundMode::CAST_TRUNC: return towards(value < 0);
        case AscendC::RoundMode::CAST_ROUND: {
            const D low = towards(false);
            const D high = towards(true);
            const float down = value - static_cast<float>(low);
            const float above = static_cast<float>(high) - value;
            return down == above ? (value < 0 ? low : high) : nearest;
        }
        default: {  // CAST_ODD: of the two neighbours the odd one
            const D low = towards(false);
            return (low.bits & 1) != 0 ? low : towards(true);
        }
    }
}

template <class D, class S>
inline D converted(S value, AscendC::RoundMode mode)
{
    if constexpr (std::is_integral_v<D>) {
        if constexpr (std::is_integral_v<S>) {
            if (static_cast<int64_t>(value) > static_cast<int64_t>(std::numeric_limits<D>::max())) {
                return std::numeric_limits<D>::max();
            }
            if (static_cast<int64_t>(value) < static_cast<int64_t>(std::numeric_limits<D>::min())) {
                return std::numeric_limits<D>::min();
            }
            return static_cast<D>(value);
        } else {
            const double whole = rounded(static_cast<double>(static_cast<float>(value)), mode);
            if (std::isnan(whole)) {
                return 0;
            }
            if (whole >= static_cast<double>(std::numeric_limits<D>::max())) {
                return std::numeric_limits<D>::max();
            }
            if (whole <= static_cast<double>(std::numeric_limits<D>::min())) {
                return std::numeric_limits<D>::min();
            }
            return static_cast<D>(whole);
        }
    } else if constexpr (is_float16<D>::value) {
        return narrowed<D>(static_cast<float>(value), mode);
    } else if constexpr (std::is_same_v<S, D>) {
        return D(rounded(static_cast<double>(value), mode));
    } else {
        return static_cast<D>(value);
    }
}

template <class D, class S>
constexpr bool castable =
    one_of<D, half_t, bf16_t, float, int8_t, uint8_t, int16_t, int32_t, int64_t> &&
    one_of<S, half_t, bf16_t, float, int8_t, uint8_t, int16_t, int32_t, int64_t> &&
    !(std::is_integral_v<D> && std::is_integral_v<S> && !(sizeof(D) > 2 && sizeof(S) > 2) &&
      !(sizeof(D) == 2 && sizeof(S) == 4)) &&
    !(one_of<D, bf16_t> && one_of<S, half_t>) && !(one_of<D, half_t> && one_of<S, bf16_t>);

}  // namespace opdev_sim

namespace AscendC {

/// 按舍入方式转换类型。
/// Converts to another type by a rounding mode.
template <class D, class S>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, const uint32_t count,
                 Site at = here())
{
    static_assert(opdev_sim::castable<D, S>, "Cast has no such pair of types on the device: go through float or half");
    opdev_sim::check_vector(src, count, "Cast", at);
    D *to = dst.GetPhyAddr();
    const S *from = src.GetPhyAddr();
    const RoundMode how = mode;
    opdev_sim::by_count(dst, static_cast<int32_t>(count), "Cast", at,
                        [=](uint32_t i) { to[i] = opdev_sim::converted<D>(from[i], how); });
}

/// 按舍入方式转换类型。
/// Converts to another type by a rounding mode.
template <class D, class S, bool set_mask = true, class M = uint64_t>
inline void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode, M mask,
                 const uint8_t repeats, const UnaryRepeatParams &how, Site at = here())
{
    static_assert(opdev_sim::castable<D, S>, "Cast has no such pair of types on the device: go through float or half");
    opdev_sim::core("Cast", at);
    constexpr uint32_t lanes = opdev_sim::lanes_of(sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
    const opdev_sim::Mask on = opdev_sim::mask_of(mask);
    const opdev_sim::Layout<D> to{how.dstBlkStride, how.dstRepStride};
    const opdev_sim::Layout<S> from{how.srcBlkStride, how.srcRepStride};
    opdev_sim::check_vector(dst, opdev_sim::reach(to, on, repeats, lanes), "Cast", at);
    opdev_sim::check_vector(src, opdev_sim::reach(from, on, repeats, lanes), "Cast", at);
    opdev_sim::by_repeat(on, repeats, lanes, [&](uint32_t turn, uint32_t lane) {
        dst.GetPhyAddr()[to.at(turn, lane)] =
            opdev_sim::converted<D>(src.GetPhyAddr()[from.at(turn, lane)], mode);
    });
}

}  // namespace AscendC
