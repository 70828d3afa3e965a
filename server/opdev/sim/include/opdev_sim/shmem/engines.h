// SDMA, RDMA (roce) and UDMA: other queues, other scratch sizes, and each its own quiet.
#pragma once
#include "opdev_sim/launch.h"
#include "opdev_sim/shmem/transfer.h"
#include "opdev_sim/signal.h"

/// L2 缓存操作类型（定义在 src，公开 cmo 接口使用）。
/// L2 cache operation kinds (declared in src, used by the public cmo call).
enum class ACLSHMEMCMOTYPE : uint32_t { CMO_TYPE_PREFETCH = 6, CMO_TYPE_WRITEBACK = 7, CMO_TYPE_INVALID = 8 };

#define OPDEV_SIM_ENGINE(NAME, MOVE, ENGINE, LEAST)                                                                                    \
    template <class T, pipe_t = PIPE_MTE3>                                                                                             \
    inline void NAME(T *dst, T *src, T *buf, uint32_t elem_size, int pe, uint32_t = 0, opdev_sim::Site at = opdev_sim::here())         \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, LEAST, LEAST, 32, #NAME, at);                                                                    \
        opdev_sim::MOVE(opdev_sim::ENGINE, dst, src, opdev_sim::one_row(uint64_t{elem_size} * sizeof(T)), pe, #NAME, at);              \
    }                                                                                                                                  \
    template <class T, pipe_t = PIPE_MTE3>                                                                                             \
    inline void NAME(const AscendC::GlobalTensor<T> &dst, const AscendC::GlobalTensor<T> &src, const AscendC::LocalTensor<T> &buf,     \
                     uint32_t elem_size, int pe, uint32_t = 0, opdev_sim::Site at = opdev_sim::here())                                 \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, LEAST, 32, #NAME, at);                                                                           \
        opdev_sim::MOVE(opdev_sim::ENGINE, dst.GetPhyAddr(), src.GetPhyAddr(), opdev_sim::one_row(uint64_t{elem_size} * sizeof(T)),    \
                        pe, #NAME, at);                                                                                                \
    }
/// RDMA 非阻塞写，两端都须对称内存，UB 至少 128 字节。
/// Non-blocking RDMA put; both sides symmetric; UB >=128 B.
OPDEV_SIM_ENGINE(aclshmemx_roce_put_nbi, put, rdma, 128)
/// RDMA 非阻塞读，两端都须对称内存，UB 至少 128 字节。
/// Non-blocking RDMA get; both sides symmetric; UB >=128 B.
OPDEV_SIM_ENGINE(aclshmemx_roce_get_nbi, get, rdma, 128)
/// UDMA 非阻塞写，单次不超过 256 MiB，MTE3 路径需 128 字节 UB。
/// Non-blocking UDMA put; <=256 MiB per request; UB >=128 B on the MTE3 path.
OPDEV_SIM_ENGINE(aclshmemx_udma_put_nbi, put, udma, 128)
/// UDMA 非阻塞读，MTE3 路径需 128 字节 UB。
/// Non-blocking UDMA get; UB >=128 B on the MTE3 path.
OPDEV_SIM_ENGINE(aclshmemx_udma_get_nbi, get, udma, 128)
#undef OPDEV_SIM_ENGINE

#define OPDEV_SIM_SDMA(NAME, MOVE)                                                                                                     \
    template <class T>                                                                                                                 \
    inline void NAME(T *dst, T *src, T *buf, uint32_t ub_size, uint32_t elem_size, int pe, uint32_t,                                   \
                     opdev_sim::Site at = opdev_sim::here())                                                                           \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, ub_size, 64, 64, #NAME, at);                                                                     \
        opdev_sim::MOVE(opdev_sim::sdma, dst, src, opdev_sim::one_row(uint64_t{elem_size} * sizeof(T)), pe, #NAME, at);                \
    }                                                                                                                                  \
    template <class T>                                                                                                                 \
    inline void NAME(const AscendC::GlobalTensor<T> &dst, const AscendC::GlobalTensor<T> &src, const AscendC::LocalTensor<T> &buf,     \
                     uint32_t elem_size, int pe, uint32_t, opdev_sim::Site at = opdev_sim::here())                                     \
    {                                                                                                                                  \
        opdev_sim::check_scratch(buf, 64, 64, #NAME, at);                                                                              \
        opdev_sim::MOVE(opdev_sim::sdma, dst.GetPhyAddr(), src.GetPhyAddr(), opdev_sim::one_row(uint64_t{elem_size} * sizeof(T)), pe,  \
                        #NAME, at);                                                                                                    \
    }
/// SDMA 非阻塞写，UB 暂存至少 64 字节。
/// Non-blocking SDMA put; UB scratch >=64 B.
OPDEV_SIM_SDMA(aclshmemx_sdma_put_nbi, put)
/// SDMA 非阻塞读，UB 暂存至少 64 字节。
/// Non-blocking SDMA get; UB scratch >=64 B.
OPDEV_SIM_SDMA(aclshmemx_sdma_get_nbi, get)
#undef OPDEV_SIM_SDMA

/// 等待已排入的 SDMA 任务完成。
/// Waits until queued SDMA work is done.
template <class T>
inline void aclshmemx_sdma_quiet(T *buf, uint32_t ub_size, uint32_t, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::check_scratch(buf, ub_size, 64, 64, "aclshmemx_sdma_quiet", at);
    opdev_sim::complete(opdev_sim::sdma);
}
/// 等待已排入的 SDMA 任务完成。
/// Waits until queued SDMA work is done.
template <class T>
inline void aclshmemx_sdma_quiet(const AscendC::LocalTensor<T> &buf, uint32_t, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::check_scratch(buf, 64, 64, "aclshmemx_sdma_quiet", at);
    opdev_sim::complete(opdev_sim::sdma);
}
/// 等待发往某 PE 的 RDMA 请求完成。
/// Waits for RDMA work requests to one PE.
template <class T>
inline void aclshmemx_roce_quiet(uint32_t pe, T *buf, uint32_t, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::check_scratch(buf, 64, 64, 32, "aclshmemx_roce_quiet", at);
    opdev_sim::complete(opdev_sim::rdma, ~0ull, static_cast<int>(pe));
}
/// 等待发往某 PE 的 UDMA 请求完成。
/// Waits for UDMA requests to one PE.
inline void aclshmemx_udma_quiet(int pe) { opdev_sim::complete(opdev_sim::udma, ~0ull, pe); }

// Data and a 64-bit signal behind it, in that order.
/// UDMA 写完成时更新远端 64 位信号。
/// UDMA put that bumps a 64-bit signal at the peer when done.
template <class T>
inline void aclshmemx_udma_put_signal_nbi(T *dst, T *src, uint32_t elem_size, uint64_t *sig_addr, uint64_t signal, int pe,
                                          opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::put_now(dst, src, opdev_sim::one_row(uint64_t{elem_size} * sizeof(T)), pe, "aclshmemx_udma_put_signal_nbi", at);
    opdev_sim::store_element(opdev_sim::Element::u64, sig_addr, signal, pe, "aclshmemx_udma_put_signal_nbi", at);
}
// With a work area of the caller's, which the CPU does not need.
/// UDMA 写完成时更新远端 64 位信号。
/// UDMA put that bumps a 64-bit signal at the peer when done.
template <class T, pipe_t = PIPE_MTE3>
inline void aclshmemx_udma_put_signal_nbi(T *dst, T *src, uint32_t elem_size, uint64_t *sig_addr, uint64_t signal, int pe, uint8_t *,
                                          uint32_t = 0, opdev_sim::Site at = opdev_sim::here())
{
    aclshmemx_udma_put_signal_nbi(dst, src, elem_size, sig_addr, signal, pe, at);
}
// By way of another PE: the same bytes in the end, and the target's quiet.
#define OPDEV_SIM_RELAY(NAME, DIRECT)                                                                                                  \
    template <class T, pipe_t = PIPE_MTE3>                                                                                             \
    inline void NAME(T *dst, T *src, T *buf, uint32_t elem_size, int pe, int relay_pe, uint32_t sync_id = 0,                           \
                     opdev_sim::Site at = opdev_sim::here())                                                                           \
    {                                                                                                                                  \
        if (relay_pe < 0 || relay_pe >= opdev_sim::n_pes())                                                                            \
            opdev_sim::fault(opdev_sim::kind::bad_pe, at, #NAME ": relay PE %d, but there are PEs 0 to %d",                            \
                             #NAME "：中继 PE %d 不存在，有效范围为 0 到 %d", relay_pe, opdev_sim::n_pes() - 1);                       \
        DIRECT(dst, src, buf, elem_size, pe, sync_id, at);                                                                             \
    }
/// 经中继 PE 的 UDMA 写，需开中继编译项；参数非法会静默跳过。
/// UDMA put routed through a relay PE; needs ACLSHMEM_RELAY_SUPPORT; bad PE args are silently skipped.
OPDEV_SIM_RELAY(aclshmemx_udma_relay_put_nbi, aclshmemx_udma_put_nbi)
/// 经中继 PE 的 UDMA 读，需开中继编译项；参数非法会静默跳过。
/// UDMA get routed through a relay PE; needs ACLSHMEM_RELAY_SUPPORT; bad PE args are silently skipped.
OPDEV_SIM_RELAY(aclshmemx_udma_relay_get_nbi, aclshmemx_udma_get_nbi)
#undef OPDEV_SIM_RELAY
// L2 hints change nothing here.
/// 排入 L2 缓存操作，目前只支持预取。
/// Queues an L2 cache operation (only prefetch is accepted).
template <class T>
inline void aclshmemx_cmo_nbi(T *, uint32_t, ACLSHMEMCMOTYPE, T *, uint32_t, uint32_t)
{
}
/// 排入 L2 缓存操作，目前只支持预取。
/// Queues an L2 cache operation (only prefetch is accepted).
template <class T>
inline void aclshmemx_cmo_nbi(const AscendC::GlobalTensor<T> &, uint32_t, ACLSHMEMCMOTYPE, const AscendC::LocalTensor<T> &, uint32_t)
{
}
// Each with the default scratch, and with one of the caller's.
/// 走 RDMA 的全体栅栏。
/// World barrier over RDMA.
inline void aclshmemx_roce_barrier_all(opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::complete(opdev_sim::mte | opdev_sim::rdma);
    opdev_sim::pe_barrier(ACLSHMEM_TEAM_WORLD, "aclshmemx_roce_barrier_all", at);
}
/// 走 RDMA 的全体栅栏。
/// World barrier over RDMA.
template <class T>
inline void aclshmemx_roce_barrier_all(T *buf, uint32_t, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::check_scratch(buf, 128, 128, 32, "aclshmemx_roce_barrier_all", at);
    aclshmemx_roce_barrier_all(at);
}
/// 走 RDMA 的全体同步。
/// World sync over RDMA.
inline void aclshmemx_roce_sync_all(opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::pe_barrier(ACLSHMEM_TEAM_WORLD, "aclshmemx_roce_sync_all", at);
}
/// 走 RDMA 的全体同步。
/// World sync over RDMA.
template <class T>
inline void aclshmemx_roce_sync_all(T *buf, uint32_t, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::check_scratch(buf, 128, 128, 32, "aclshmemx_roce_sync_all", at);
    aclshmemx_roce_sync_all(at);
}
/// 走 RDMA 的 team 栅栏（先 quiet 再同步），返回 int。
/// Team barrier over RDMA (quiet then sync); returns int.
inline int aclshmemx_roce_barrier(aclshmemx_team_t *team, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::complete(opdev_sim::mte | opdev_sim::rdma);
    opdev_sim::pe_barrier(team->team_idx, "aclshmemx_roce_barrier", at);
    return ACLSHMEM_SUCCESS;
}
/// 走 RDMA 的 team 栅栏（先 quiet 再同步），返回 int。
/// Team barrier over RDMA (quiet then sync); returns int.
template <class T>
inline int aclshmemx_roce_barrier(aclshmemx_team_t *team, T *buf, uint32_t, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::check_scratch(buf, 128, 128, 32, "aclshmemx_roce_barrier", at);
    return aclshmemx_roce_barrier(team, at);
}
/// 走 RDMA 的 team 同步，返回 int。
/// Team sync over RDMA; returns int.
inline int aclshmemx_roce_team_sync(aclshmemx_team_t *team, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::pe_barrier(team->team_idx, "aclshmemx_roce_team_sync", at);
    return ACLSHMEM_SUCCESS;
}
/// 走 RDMA 的 team 同步，返回 int。
/// Team sync over RDMA; returns int.
template <class T>
inline int aclshmemx_roce_team_sync(aclshmemx_team_t *team, T *buf, uint32_t, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::check_scratch(buf, 128, 128, 32, "aclshmemx_roce_team_sync", at);
    return aclshmemx_roce_team_sync(team, at);
}
#define aclshmemx_roce_sync aclshmemx_roce_team_sync

// UB scratch of the default paths: kept in range, otherwise without meaning here.
#define OPDEV_SIM_CONFIG(NAME, LEAST)                                                                                                  \
    inline int NAME(uint64_t offset, uint32_t ub_size, uint32_t, opdev_sim::Site at = opdev_sim::here())                               \
    {                                                                                                                                  \
        if (opdev_sim::current().on_device)                                                                                            \
            opdev_sim::check_scratch(opdev_sim::ub_address(offset), ub_size, LEAST, 32, #NAME, at);                                    \
        return ub_size < LEAST || offset + ub_size > opdev_sim::ub_bytes() ? ACLSHMEM_INVALID_VALUE : ACLSHMEM_SUCCESS;                \
    }
/// 设置 MTE 默认路径所用的 UB 暂存偏移、大小与事件号。
/// Sets UB scratch offset, size and event id used by the default MTE path (default offset 0, size 16 KiB).
OPDEV_SIM_CONFIG(aclshmemx_set_mte_config, 32)
/// 设置 SDMA 默认路径所用的 UB 暂存偏移、大小与事件号。
/// Sets UB scratch offset, size and event id used by the default SDMA path (>=64 B and 64 B aligned).
OPDEV_SIM_CONFIG(aclshmemx_set_sdma_config, 64)
/// 设置 RDMA 默认路径所用的 UB 暂存偏移、大小与事件号。
/// Sets UB scratch offset, size and event id used by the default RDMA path (>=128 B).
OPDEV_SIM_CONFIG(aclshmemx_set_rdma_config, 128)
/// 设置 UDMA 默认路径所用的 UB 暂存偏移、大小与事件号。
/// Sets UB scratch offset, size and event id used by the default UDMA path (>=128 B).
OPDEV_SIM_CONFIG(aclshmemx_set_udma_config, 128)
#undef OPDEV_SIM_CONFIG
