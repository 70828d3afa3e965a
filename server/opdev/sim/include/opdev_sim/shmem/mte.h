// MTE: global memory to global memory through a UB buffer the caller brings, or straight from and into UB.
#pragma once
#include "opdev_sim/shmem/transfer.h"

#define OPDEV_SIM_MTE(NAME, MOVE)                                                                                                      \
    template <class T>                                                                                                                 \
    inline void NAME(T *dst, T *src, T *buf, uint32_t ub_size, uint32_t elem_size, int pe, uint32_t,                                   \
                     opdev_sim::Site at = opdev_sim::here())                                                                           \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, ub_size, 32, 32, #NAME, at);                                                                     \
        opdev_sim::Rows rows = opdev_sim::one_row(uint64_t{elem_size} * sizeof(T));                                                    \
        opdev_sim::MOVE(opdev_sim::mte, dst, src, opdev_sim::through(rows, buf, ub_size), pe, #NAME, at);                              \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void NAME(T *dst, T *src, T *buf, uint32_t ub_size, const non_contiguous_copy_param &copy_params, int pe, uint32_t,         \
                     opdev_sim::Site at = opdev_sim::here())                                                                           \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, ub_size, 32, 32, #NAME, at);                                                                     \
        opdev_sim::Rows rows = opdev_sim::rows_of(copy_params, sizeof(T));                                                             \
        opdev_sim::MOVE(opdev_sim::mte, dst, src, opdev_sim::through(rows, buf, ub_size), pe, #NAME, at);                              \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void NAME(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src, AscendC::LocalTensor<T> buf, uint32_t elem_size,      \
                     int pe, uint32_t, opdev_sim::Site at = opdev_sim::here())                                                         \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, 32, 32, #NAME, at);                                                                              \
        opdev_sim::Rows rows = opdev_sim::one_row(uint64_t{elem_size} * sizeof(T));                                                    \
        opdev_sim::MOVE(opdev_sim::mte, dst.GetPhyAddr(), src.GetPhyAddr(), opdev_sim::through(rows, buf), pe, #NAME, at);             \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void NAME(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src, AscendC::LocalTensor<T> buf,                          \
                     const non_contiguous_copy_param &copy_params, int pe, uint32_t, opdev_sim::Site at = opdev_sim::here())           \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, 32, 32, #NAME, at);                                                                              \
        opdev_sim::Rows rows = opdev_sim::rows_of(copy_params, sizeof(T));                                                             \
        opdev_sim::MOVE(opdev_sim::mte, dst.GetPhyAddr(), src.GetPhyAddr(), opdev_sim::through(rows, buf), pe, #NAME, at);             \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void NAME(T *dst, T *src, uint32_t elem_size, int pe, uint32_t, opdev_sim::Site at = opdev_sim::here())                     \
    {                                                                                                                                  \
        opdev_sim::MOVE(opdev_sim::mte, dst, src, opdev_sim::one_row(uint64_t{elem_size} * sizeof(T)), pe, #NAME, at);                 \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void NAME(T *dst, T *src, const non_contiguous_copy_param &copy_params, int pe, uint32_t,                                   \
                     opdev_sim::Site at = opdev_sim::here())                                                                           \
    {                                                                                                                                  \
        opdev_sim::MOVE(opdev_sim::mte, dst, src, opdev_sim::rows_of(copy_params, sizeof(T)), pe, #NAME, at);                          \
    }

/// MTE 非阻塞写（GM 经 UB 或直接从 UB），自带 UB 与事件号。
/// Non-blocking MTE put (GM via UB, or straight from UB); caller gives UB and event id.
OPDEV_SIM_MTE(aclshmemx_mte_put_nbi, put)
/// MTE 非阻塞读（经 UB 到 GM 或直接到 UB），自带 UB 与事件号。
/// Non-blocking MTE get (to GM via UB, or straight into UB); caller gives UB and event id.
OPDEV_SIM_MTE(aclshmemx_mte_get_nbi, get)
#undef OPDEV_SIM_MTE

// From and into a local tensor: its own length is checked, too.
#define OPDEV_SIM_MTE_LOCAL(HOW, ROWS)                                                                                                 \
    template <class T>                                                                                                                 \
    inline void aclshmemx_mte_put_nbi(AscendC::GlobalTensor<T> dst, AscendC::LocalTensor<T> src, HOW, int pe, uint32_t,                \
                                      opdev_sim::Site at = opdev_sim::here())                                                          \
    {                                                                                                                                  \
        opdev_sim::Rows rows = ROWS;                                                                                                   \
        src.check(opdev_sim::extent(rows, rows.src_stride), "aclshmemx_mte_put_nbi", at);                                              \
        opdev_sim::put(opdev_sim::mte, dst.GetPhyAddr(), src.GetPhyAddr(), rows, pe, "aclshmemx_mte_put_nbi", at);                     \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void aclshmemx_mte_get_nbi(AscendC::LocalTensor<T> dst, AscendC::GlobalTensor<T> src, HOW, int pe, uint32_t,                \
                                      opdev_sim::Site at = opdev_sim::here())                                                          \
    {                                                                                                                                  \
        opdev_sim::Rows rows = ROWS;                                                                                                   \
        dst.check(opdev_sim::extent(rows, rows.dst_stride), "aclshmemx_mte_get_nbi", at);                                              \
        opdev_sim::get(opdev_sim::mte, dst.GetPhyAddr(), src.GetPhyAddr(), rows, pe, "aclshmemx_mte_get_nbi", at);                     \
    }
/// MTE 非阻塞传输：put 从 UB 写到目标 PE，get 从目标 PE 读入 UB；由 quiet、栅栏或 MTE3 事件完成。
/// Non-blocking MTE transfer: put from UB to the PE, get from the PE into UB; quiet, a barrier or an MTE3 event completes it.
OPDEV_SIM_MTE_LOCAL(uint32_t elem_size, opdev_sim::one_row(uint64_t{elem_size} * sizeof(T)))
/// MTE 非阻塞传输：put 从 UB 写到目标 PE，get 从目标 PE 读入 UB；由 quiet、栅栏或 MTE3 事件完成。
/// Non-blocking MTE transfer: put from UB to the PE, get from the PE into UB; quiet, a barrier or an MTE3 event completes it.
OPDEV_SIM_MTE_LOCAL(const non_contiguous_copy_param &copy_params, opdev_sim::rows_of(copy_params, sizeof(T)))
#undef OPDEV_SIM_MTE_LOCAL

/// 清空核内流水并刷缓存，纯 MTE 路径用它收尾。
/// Drains the core pipes and flushes cache; right choice after MTE-only traffic.
inline void aclshmemx_mte_quiet() { opdev_sim::complete(opdev_sim::mte); }
