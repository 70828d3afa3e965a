// Atomics by type and by engine.  All are in effect when they return; the asynchronous ones of the library are no
// earlier than that there.
#pragma once
#include "opdev_sim/shmem/typed.h"
#include "opdev_sim/signal.h"
#include "opdev_sim/wait.h"

namespace opdev_sim {

template <class T>
T amo(Amo what_to_do, T *dst, T value, T condition, int pe, const char *what, Site at)
{
    uint64_t bits = atomic(what_to_do, element<T>(), dst, to_bits(value), to_bits(condition), pe, what, at);
    T old;
    std::memcpy(static_cast<void *>(&old), &bits, sizeof old);
    return old;
}

}  // namespace opdev_sim

// One operation without and one with the old value: X(suffix, operation).
#define OPDEV_SIM_AMO_ONE(NAME, AMO)                                                                                                   \
    template <class T>                                                                                                                 \
    inline void NAME(T *dst, T value, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                              \
    {                                                                                                                                  \
        opdev_sim::amo(opdev_sim::Amo::AMO, dst, value, T{}, pe, #NAME, at);                                                           \
    }
#define OPDEV_SIM_AMO_FETCH(NAME, AMO)                                                                                                 \
    template <class T>                                                                                                                 \
    inline T NAME(T *dst, T value, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                                 \
    {                                                                                                                                  \
        return opdev_sim::amo(opdev_sim::Amo::AMO, dst, value, T{}, pe, #NAME, at);                                                    \
    }
#define OPDEV_SIM_AMO_ENGINE(E)                                                                                                        \
    OPDEV_SIM_AMO_ONE(aclshmemx_##E##_atomic_add, add)                                                                                 \
    OPDEV_SIM_AMO_ONE(aclshmemx_##E##_atomic_set, set)                                                                                 \
    OPDEV_SIM_AMO_FETCH(aclshmemx_##E##_atomic_fetch_add, add)                                                                         \
    OPDEV_SIM_AMO_FETCH(aclshmemx_##E##_atomic_swap, swap)                                                                             \
    template <class T>                                                                                                                 \
    inline T aclshmemx_##E##_atomic_fetch(T *src, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                  \
    {                                                                                                                                  \
        return opdev_sim::amo(opdev_sim::Amo::fetch, src, T{}, T{}, pe, "aclshmemx_" #E "_atomic_fetch", at);                          \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void aclshmemx_##E##_atomic_inc(T *dst, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                 \
    {                                                                                                                                  \
        opdev_sim::amo(opdev_sim::Amo::add, dst, T(1), T{}, pe, "aclshmemx_" #E "_atomic_inc", at);                                    \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline T aclshmemx_##E##_atomic_fetch_inc(T *dst, int32_t pe, opdev_sim::Site at = opdev_sim::here())                              \
    {                                                                                                                                  \
        return opdev_sim::amo(opdev_sim::Amo::add, dst, T(1), T{}, pe, "aclshmemx_" #E "_atomic_fetch_inc", at);                       \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline T aclshmemx_##E##_atomic_compare_swap(T *dst, T cond, T value, int32_t pe, opdev_sim::Site at = opdev_sim::here())          \
    {                                                                                                                                  \
        return opdev_sim::amo(opdev_sim::Amo::compare_swap, dst, value, cond, pe, "aclshmemx_" #E "_atomic_compare_swap", at);         \
    }
#define OPDEV_SIM_AMO_BITS(E)                                                                                                          \
    OPDEV_SIM_AMO_ONE(aclshmemx_##E##_atomic_and, bit_and)                                                                             \
    OPDEV_SIM_AMO_ONE(aclshmemx_##E##_atomic_or, bit_or)                                                                               \
    OPDEV_SIM_AMO_ONE(aclshmemx_##E##_atomic_xor, bit_xor)                                                                             \
    OPDEV_SIM_AMO_FETCH(aclshmemx_##E##_atomic_fetch_and, bit_and)                                                                     \
    OPDEV_SIM_AMO_FETCH(aclshmemx_##E##_atomic_fetch_or, bit_or)                                                                       \
    OPDEV_SIM_AMO_FETCH(aclshmemx_##E##_atomic_fetch_xor, bit_xor)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_AMO_ENGINE(mte)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_AMO_ENGINE(roce)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_AMO_ENGINE(udma)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_AMO_BITS(roce)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_AMO_BITS(udma)

#define OPDEV_SIM_TYPED_ADD(N, T)                                                                                                      \
    inline void aclshmem_##N##_atomic_add(T *dst, T value, int32_t pe, opdev_sim::Site at = opdev_sim::here())                         \
    {                                                                                                                                  \
        opdev_sim::amo(opdev_sim::Amo::add, dst, value, T{}, pe, "aclshmem_" #N "_atomic_add", at);                                    \
    }
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(int8, int8_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(int16, int16_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(int32, int32_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(int64, int64_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(uint32, uint32_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(uint64, uint64_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(half, half)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(bfloat16, bfloat16_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_ADD(float, float)

#define OPDEV_SIM_TYPED_VALUE(N, T, SUFFIX, AMO, RESULT, RETURN)                                                                       \
    inline RESULT aclshmem_##N##_atomic_##SUFFIX(T *dst, T value, int32_t pe, opdev_sim::Site at = opdev_sim::here())                  \
    {                                                                                                                                  \
        RETURN opdev_sim::amo(opdev_sim::Amo::AMO, dst, value, T{}, pe, "aclshmem_" #N "_atomic_" #SUFFIX, at);                        \
    }
#define OPDEV_SIM_TYPED_COMMON(N, T)                                                                                                   \
    OPDEV_SIM_TYPED_VALUE(N, T, set, set, void, (void))                                                                                \
    OPDEV_SIM_TYPED_VALUE(N, T, swap, swap, T, return)                                                                                 \
    inline T aclshmem_##N##_atomic_fetch(const T *src, int32_t pe, opdev_sim::Site at = opdev_sim::here())                             \
    {                                                                                                                                  \
        return opdev_sim::amo(opdev_sim::Amo::fetch, const_cast<T *>(src), T{}, T{}, pe, "aclshmem_" #N "_atomic_fetch", at);          \
    }
#define OPDEV_SIM_TYPED_INTEGER(N, T)                                                                                                  \
    OPDEV_SIM_TYPED_COMMON(N, T)                                                                                                       \
    OPDEV_SIM_TYPED_VALUE(N, T, fetch_add, add, T, return)                                                                             \
    OPDEV_SIM_TYPED_VALUE(N, T, and, bit_and, void, (void))                                                                            \
    OPDEV_SIM_TYPED_VALUE(N, T, or, bit_or, void, (void))                                                                              \
    OPDEV_SIM_TYPED_VALUE(N, T, xor, bit_xor, void, (void))                                                                            \
    OPDEV_SIM_TYPED_VALUE(N, T, fetch_and, bit_and, T, return)                                                                         \
    OPDEV_SIM_TYPED_VALUE(N, T, fetch_or, bit_or, T, return)                                                                           \
    OPDEV_SIM_TYPED_VALUE(N, T, fetch_xor, bit_xor, T, return)                                                                         \
    inline void aclshmem_##N##_atomic_inc(T *dst, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                  \
    {                                                                                                                                  \
        opdev_sim::amo(opdev_sim::Amo::add, dst, T(1), T{}, pe, "aclshmem_" #N "_atomic_inc", at);                                     \
    }                                                                                                                                  \
    inline T aclshmem_##N##_atomic_fetch_inc(T *dst, int32_t pe, opdev_sim::Site at = opdev_sim::here())                               \
    {                                                                                                                                  \
        return opdev_sim::amo(opdev_sim::Amo::add, dst, T(1), T{}, pe, "aclshmem_" #N "_atomic_fetch_inc", at);                        \
    }                                                                                                                                  \
    inline T aclshmem_##N##_atomic_compare_swap(T *dst, T cond, T value, int32_t pe, opdev_sim::Site at = opdev_sim::here())           \
    {                                                                                                                                  \
        return opdev_sim::amo(opdev_sim::Amo::compare_swap, dst, value, cond, pe, "aclshmem_" #N "_atomic_compare_swap", at);          \
    }
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_INTEGER(int32, int32_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_INTEGER(int64, int64_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_INTEGER(uint32, uint32_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_INTEGER(uint64, uint64_t)
/// 对目标 PE 的原子操作；fetch、swap 返回原值。
/// An atomic on the PE's memory; fetch and swap forms return the old value.
OPDEV_SIM_TYPED_COMMON(float, float)
#undef OPDEV_SIM_AMO_ONE
#undef OPDEV_SIM_AMO_FETCH
#undef OPDEV_SIM_AMO_ENGINE
#undef OPDEV_SIM_AMO_BITS
#undef OPDEV_SIM_TYPED_ADD
#undef OPDEV_SIM_TYPED_VALUE
#undef OPDEV_SIM_TYPED_COMMON
#undef OPDEV_SIM_TYPED_INTEGER
