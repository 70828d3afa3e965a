// Signals, waits and tests, quiet and fence, barriers.
#pragma once
#include "opdev_sim/launch.h"
#include "opdev_sim/order.h"
#include "opdev_sim/shmem/typed.h"
#include "opdev_sim/wait.h"

/// 对远端信号字做 SET/ADD。
/// SET or ADD on a peer signal word.
inline void aclshmemx_signal_op(int32_t *sig_addr, int32_t signal, int sig_op, int pe, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::signal_op(sig_addr, signal, sig_op, pe, "aclshmemx_signal_op", at);
}
/// 轮询本地信号至满足条件，返回读到的值。
/// Spins on a local signal until the compare holds; returns the value seen.
inline int32_t aclshmem_signal_wait_until(int32_t *sig_addr, int cmp, int32_t cmp_val, opdev_sim::Site at = opdev_sim::here())
{
    return opdev_sim::wait_until(static_cast<const int32_t *>(sig_addr), cmp, cmp_val, "aclshmem_signal_wait_until", at);
}

namespace opdev_sim {

// The entries a status array does not exclude; none given means all of them.
inline bool asked(const int *status, size_t i) { return status == nullptr || status[i] == 0; }

template <class T>
bool look(const T *p, int cmp, T value, Site at)
{
    current().site = at;
    bool yes = holds(element<T>(), p, cmp, to_bits(value));
    if (!yes) polled(p, at);
    return yes;
}
// Index of one that holds, from the one after `last`; nelems when none does.
template <class T, class Value>
size_t any_of(const T *p, size_t n, const int *status, int cmp, Value value, Site at)
{
    for (size_t i = 0; i < n; i++)
        if (asked(status, i) && holds(element<T>(), p + i, cmp, to_bits(static_cast<T>(value(i))))) return i;
    for (size_t i = 0; i < n; i++)
        if (asked(status, i)) {
            polled(p + i, at);
            break;
        }
    return n;
}
template <class T, class Value>
size_t some_of(const T *p, size_t n, size_t *indices, const int *status, int cmp, Value value, Site at)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (asked(status, i) && holds(element<T>(), p + i, cmp, to_bits(static_cast<T>(value(i))))) indices[found++] = i;
    if (found == 0 && n != 0) polled(p, at);
    return found;
}
template <class T, class Value>
void wait_all(const T *p, size_t n, const int *status, int cmp, Value value, const char *what, Site at)
{
    for (size_t i = 0; i < n; i++)
        if (asked(status, i)) wait_until(p + i, cmp, static_cast<T>(value(i)), what, at);
}
inline bool anything_asked(const int *status, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (asked(status, i)) return true;
    return false;
}

}  // namespace opdev_sim

#define OPDEV_SIM_WAITS(N, T)                                                                                                          \
    inline void aclshmem_##N##_wait_until(T *ivar, int cmp, T value, opdev_sim::Site at = opdev_sim::here())                           \
    {                                                                                                                                  \
        opdev_sim::wait_until(static_cast<const T *>(ivar), cmp, value, "aclshmem_" #N "_wait_until", at);                             \
    }                                                                                                                                  \
    inline void aclshmem_##N##_wait(T *ivar, T value, opdev_sim::Site at = opdev_sim::here())                                          \
    {                                                                                                                                  \
        opdev_sim::wait_until(static_cast<const T *>(ivar), opdev_sim::ne, value, "aclshmem_" #N "_wait", at);                         \
    }                                                                                                                                  \
    inline void aclshmem_##N##_wait_until_all(T *ivars, size_t n, const int *status, int cmp, T value,                                 \
                                              opdev_sim::Site at = opdev_sim::here())                                                  \
    {                                                                                                                                  \
        opdev_sim::wait_all(ivars, n, status, cmp, [=](size_t) { return value; }, "aclshmem_" #N "_wait_until_all", at);               \
    }                                                                                                                                  \
    inline void aclshmem_##N##_wait_until_all_vector(T *ivars, size_t n, const int *status, int cmp, T *values,                        \
                                                     opdev_sim::Site at = opdev_sim::here())                                           \
    {                                                                                                                                  \
        opdev_sim::wait_all(ivars, n, status, cmp, [=](size_t i) { return values[i]; }, "aclshmem_" #N "_wait_until_all_vector", at);  \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_wait_until_any(T *ivars, size_t n, const int *status, int cmp, T value,                               \
                                                opdev_sim::Site at = opdev_sim::here())                                                \
    {                                                                                                                                  \
        size_t i = n;                                                                                                                  \
        while (opdev_sim::anything_asked(status, n) && i == n)                                                                         \
            i = opdev_sim::any_of(ivars, n, status, cmp, [=](size_t) { return value; }, at);                                           \
        return i == n ? SIZE_MAX : i;                                                                                                  \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_wait_until_some(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T value,             \
                                                 opdev_sim::Site at = opdev_sim::here())                                               \
    {                                                                                                                                  \
        size_t found = 0;                                                                                                              \
        while (opdev_sim::anything_asked(status, n) && found == 0)                                                                     \
            found = opdev_sim::some_of(ivars, n, indices, status, cmp, [=](size_t) { return value; }, at);                             \
        return found;                                                                                                                  \
    }                                                                                                                                  \
    inline int aclshmem_##N##_test(T *ivars, int cmp, T value, opdev_sim::Site at = opdev_sim::here())                                 \
    {                                                                                                                                  \
        return opdev_sim::look(static_cast<const T *>(ivars), cmp, value, at) ? 1 : 0;                                                 \
    }                                                                                                                                  \
    inline void aclshmem_##N##_test(T *ivars, int cmp, T value, int *result, opdev_sim::Site at = opdev_sim::here())                   \
    {                                                                                                                                  \
        *result = aclshmem_##N##_test(ivars, cmp, value, at);                                                                          \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_test_any(T *ivars, size_t n, const int *status, int cmp, T value,                                     \
                                          opdev_sim::Site at = opdev_sim::here())                                                      \
    {                                                                                                                                  \
        size_t i = opdev_sim::any_of(ivars, n, status, cmp, [=](size_t) { return value; }, at);                                        \
        return i == n ? SIZE_MAX : i;                                                                                                  \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_test_some(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T value,                   \
                                           opdev_sim::Site at = opdev_sim::here())                                                     \
    {                                                                                                                                  \
        return opdev_sim::some_of(ivars, n, indices, status, cmp, [=](size_t) { return value; }, at);                                  \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_wait_until_any_vector(T *ivars, size_t n, const int *status, int cmp, T *values,                      \
                                                       opdev_sim::Site at = opdev_sim::here())                                         \
    {                                                                                                                                  \
        size_t i = n;                                                                                                                  \
        while (opdev_sim::anything_asked(status, n) && i == n)                                                                         \
            i = opdev_sim::any_of(ivars, n, status, cmp, [=](size_t k) { return values[k]; }, at);                                     \
        return i == n ? SIZE_MAX : i;                                                                                                  \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_wait_until_some_vector(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T *values,    \
                                                        opdev_sim::Site at = opdev_sim::here())                                        \
    {                                                                                                                                  \
        size_t found = 0;                                                                                                              \
        while (opdev_sim::anything_asked(status, n) && found == 0)                                                                     \
            found = opdev_sim::some_of(ivars, n, indices, status, cmp, [=](size_t k) { return values[k]; }, at);                       \
        return found;                                                                                                                  \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_test_any_vector(T *ivars, size_t n, const int *status, int cmp, T *values,                            \
                                                 opdev_sim::Site at = opdev_sim::here())                                               \
    {                                                                                                                                  \
        size_t i = opdev_sim::any_of(ivars, n, status, cmp, [=](size_t k) { return values[k]; }, at);                                  \
        return i == n ? SIZE_MAX : i;                                                                                                  \
    }                                                                                                                                  \
    inline size_t aclshmem_##N##_test_some_vector(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T *values,          \
                                                  opdev_sim::Site at = opdev_sim::here())                                              \
    {                                                                                                                                  \
        return opdev_sim::some_of(ivars, n, indices, status, cmp, [=](size_t k) { return values[k]; }, at);                            \
    }                                                                                                                                  \
    inline int aclshmem_##N##_test_all_vector(T *ivars, size_t n, const int *status, int cmp, T *values,                               \
                                              opdev_sim::Site at = opdev_sim::here())                                                  \
    {                                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                                 \
            if (opdev_sim::asked(status, i) && !opdev_sim::look(static_cast<const T *>(ivars + i), cmp, values[i], at)) return 0;      \
        return 1;                                                                                                                      \
    }
/// wait 等到条件成立，test 只看一次；all、any、some 指全部、任一、若干个元素。
/// wait returns when the condition holds, test looks once; all, any and some say of how many elements.
OPDEV_SIM_TYPES(OPDEV_SIM_WAITS)
#undef OPDEV_SIM_WAITS

// On the host the result comes through a pointer.
#define OPDEV_SIM_HOST_WAITS(N, T)                                                                                                     \
    inline void aclshmem_##N##_wait_until_any(T *ivars, size_t n, const int *status, int cmp, T value, size_t *result,                 \
                                              opdev_sim::Site at = opdev_sim::here())                                                  \
    {                                                                                                                                  \
        *result = aclshmem_##N##_wait_until_any(ivars, n, status, cmp, value, at);                                                     \
    }                                                                                                                                  \
    inline void aclshmem_##N##_wait_until_some(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T value,               \
                                               size_t *result, opdev_sim::Site at = opdev_sim::here())                                 \
    {                                                                                                                                  \
        *result = aclshmem_##N##_wait_until_some(ivars, n, indices, status, cmp, value, at);                                           \
    }                                                                                                                                  \
    inline void aclshmem_##N##_wait_until_any_vector(T *ivars, size_t n, const int *status, int cmp, T *values, size_t *result,        \
                                                     opdev_sim::Site at = opdev_sim::here())                                           \
    {                                                                                                                                  \
        *result = aclshmem_##N##_wait_until_any_vector(ivars, n, status, cmp, values, at);                                             \
    }                                                                                                                                  \
    inline void aclshmem_##N##_wait_until_some_vector(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T *values,      \
                                                      size_t *result, opdev_sim::Site at = opdev_sim::here())                          \
    {                                                                                                                                  \
        *result = aclshmem_##N##_wait_until_some_vector(ivars, n, indices, status, cmp, values, at);                                   \
    }                                                                                                                                  \
    inline void aclshmem_##N##_test_any(T *ivars, size_t n, const int *status, int cmp, T value, size_t *result,                       \
                                        opdev_sim::Site at = opdev_sim::here())                                                        \
    {                                                                                                                                  \
        *result = aclshmem_##N##_test_any(ivars, n, status, cmp, value, at);                                                           \
    }                                                                                                                                  \
    inline void aclshmem_##N##_test_some(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T value, size_t *result,     \
                                         opdev_sim::Site at = opdev_sim::here())                                                       \
    {                                                                                                                                  \
        *result = aclshmem_##N##_test_some(ivars, n, indices, status, cmp, value, at);                                                 \
    }                                                                                                                                  \
    inline void aclshmem_##N##_test_any_vector(T *ivars, size_t n, const int *status, int cmp, T *values, size_t *result,              \
                                               opdev_sim::Site at = opdev_sim::here())                                                 \
    {                                                                                                                                  \
        *result = aclshmem_##N##_test_any_vector(ivars, n, status, cmp, values, at);                                                   \
    }                                                                                                                                  \
    inline void aclshmem_##N##_test_some_vector(T *ivars, size_t n, size_t *indices, const int *status, int cmp, T *values,            \
                                                size_t *result, opdev_sim::Site at = opdev_sim::here())                                \
    {                                                                                                                                  \
        *result = aclshmem_##N##_test_some_vector(ivars, n, indices, status, cmp, values, at);                                         \
    }                                                                                                                                  \
    inline void aclshmem_##N##_test_all_vector(T *ivars, size_t n, const int *status, int cmp, T *values, int *result,                 \
                                               opdev_sim::Site at = opdev_sim::here())                                                 \
    {                                                                                                                                  \
        *result = aclshmem_##N##_test_all_vector(ivars, n, status, cmp, values, at);                                                   \
    }
/// wait 等到条件成立，test 只看一次；all、any、some 指全部、任一、若干个元素。
/// wait returns when the condition holds, test looks once; all, any and some say of how many elements.
OPDEV_SIM_TYPES(OPDEV_SIM_HOST_WAITS)
#undef OPDEV_SIM_HOST_WAITS

// In the library quiet and fence are a barrier of the core's pipes: they drain MTE, no other engine.  On the host they
// are not declared there.
/// 等待本 PE 此前的操作完成（本版源码为全流水屏障加缓存刷新）。
/// Waits for this PE's earlier operations (pipe barrier + cache flush in this source).
inline void aclshmem_quiet() { opdev_sim::complete(opdev_sim::mte); }
/// 保序接口，实现与 quiet 相同。
/// Ordering call, built the same as quiet.
inline void aclshmem_fence() { opdev_sim::complete(opdev_sim::mte); }

#define OPDEV_SIM_BARRIER(NAME)                                                                                                        \
    inline void NAME(aclshmem_team_t team, opdev_sim::Site at = opdev_sim::here())                                                     \
    {                                                                                                                                  \
        opdev_sim::complete(opdev_sim::mte);                                                                                           \
        opdev_sim::pe_barrier(team, #NAME, at);                                                                                        \
    }
#define OPDEV_SIM_BARRIER_ALL(NAME)                                                                                                    \
    inline void NAME(opdev_sim::Site at = opdev_sim::here())                                                                           \
    {                                                                                                                                  \
        opdev_sim::complete(opdev_sim::mte);                                                                                           \
        opdev_sim::pe_barrier(ACLSHMEM_TEAM_WORLD, #NAME, at);                                                                         \
    }
/// team 栅栏：等全体到达并使此前的写、RMA、原子操作完成。
/// Team barrier: waits for all members and completes their earlier stores, RMA and atomics.
OPDEV_SIM_BARRIER(aclshmem_barrier)
/// team 同步：只保证此前存储可见，不保证 RMA 完成。
/// Team sync that orders stores only; does not finish RMA.
OPDEV_SIM_BARRIER(aclshmem_sync)
/// 旧接口：仅向量核参与的 team 栅栏。
/// Old vector-core-only team barrier.
OPDEV_SIM_BARRIER(aclshmemx_barrier_vec)
/// 全体栅栏；设备侧要求 MIX 核函数并先设 FFTS；无返回值。
/// World barrier; on the device needs a MIX kernel with FFTS set. Returns void.
OPDEV_SIM_BARRIER_ALL(aclshmem_barrier_all)
/// 全体同步：只保证此前存储可见。
/// World sync that orders stores only.
OPDEV_SIM_BARRIER_ALL(aclshmem_sync_all)
/// 旧接口：仅向量核参与的全体栅栏。
/// Old vector-core-only world barrier.
OPDEV_SIM_BARRIER_ALL(aclshmemx_barrier_all_vec)
#undef OPDEV_SIM_BARRIER
#undef OPDEV_SIM_BARRIER_ALL
// Internal in the library, used by public examples.
inline void aclshmemi_barrier_core_soft(opdev_sim::Site at = opdev_sim::here()) { opdev_sim::block_sync("aclshmemi_barrier_core_soft", at); }
