// Calls that leave the engine to the library: by type, by width, by bytes; with strides; with a signal behind.
#pragma once
#include "opdev_sim/shmem/transfer.h"
#include "opdev_sim/signal.h"

// Every type of the interface: X(name, type).
#define OPDEV_SIM_TYPES(X)                                                                                                             \
    X(half, half) X(bfloat16, bfloat16_t) X(float, float) X(double, double) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t)        \
    X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t) X(char, char)

namespace opdev_sim {
// Signal words come as int32_t *, uint8_t * (host) or void *.
inline void signal_after(void *signal, int32_t value, int op, int pe, const char *what, Site at)
{
    signal_op(static_cast<int32_t *>(signal), value, op, pe, what, at);
}
}  // namespace opdev_sim

#define OPDEV_SIM_TYPED(N, T)                                                                                                          \
    inline void aclshmem_##N##_p(T *dst, const T value, int pe, opdev_sim::Site at = opdev_sim::here())                                \
    {                                                                                                                                  \
        opdev_sim::store_element(opdev_sim::element<T>(), dst, opdev_sim::to_bits(value), pe, "aclshmem_" #N "_p", at);                \
    }                                                                                                                                  \
    inline T aclshmem_##N##_g(T *src, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                              \
    {                                                                                                                                  \
        uint64_t bits = opdev_sim::load_element(opdev_sim::element<T>(), src, pe, "aclshmem_" #N "_g", at);                            \
        T value;                                                                                                                       \
        std::memcpy(static_cast<void *>(&value), &bits, sizeof value);                                                                 \
        return value;                                                                                                                  \
    }                                                                                                                                  \
    OPDEV_SIM_BULK(aclshmem_##N##_put, aclshmem_##N##_get, T, sizeof(T))                                                               \
    OPDEV_SIM_STRIDED(aclshmem_##N##_iput, aclshmem_##N##_iget, T, sizeof(T))                                                          \
    OPDEV_SIM_TENSORS(aclshmem_##N##_put_nbi, aclshmem_##N##_get_nbi, T)                                                               \
    OPDEV_SIM_SIGNALLED(aclshmem_##N##_put_signal, T, sizeof(T))                                                                       \
    OPDEV_SIM_SIGNALLED(aclshmem_##N##_put_signal_nbi, T, sizeof(T))

#define OPDEV_SIM_BULK(PUT, GET, T, WIDTH)                                                                                             \
    inline void PUT(T *dst, T *src, size_t n, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                      \
    {                                                                                                                                  \
        opdev_sim::put_now(dst, src, opdev_sim::one_row(n * WIDTH), pe, #PUT, at);                                                     \
    }                                                                                                                                  \
    inline void GET(T *dst, T *src, size_t n, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                      \
    {                                                                                                                                  \
        opdev_sim::get_now(dst, src, opdev_sim::one_row(n * WIDTH), pe, #GET, at);                                                     \
    }                                                                                                                                  \
    inline void PUT##_nbi(T *dst, T *src, size_t n, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                \
    {                                                                                                                                  \
        opdev_sim::put(opdev_sim::default_engine(), dst, src, opdev_sim::one_row(n * WIDTH), pe, #PUT "_nbi", at);                     \
    }                                                                                                                                  \
    inline void GET##_nbi(T *dst, T *src, size_t n, int32_t pe, opdev_sim::Site at = opdev_sim::here())                                \
    {                                                                                                                                  \
        opdev_sim::get(opdev_sim::default_engine(), dst, src, opdev_sim::one_row(n * WIDTH), pe, #GET "_nbi", at);                     \
    }

#define OPDEV_SIM_STRIDED(IPUT, IGET, T, WIDTH)                                                                                        \
    inline void IPUT(T *dest, T *source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe, opdev_sim::Site at = opdev_sim::here())       \
    {                                                                                                                                  \
        opdev_sim::put_now(dest, source, {n, WIDTH, static_cast<uint64_t>(dst) * WIDTH, static_cast<uint64_t>(sst) * WIDTH}, pe,       \
                           #IPUT, at);                                                                                                 \
    }                                                                                                                                  \
    inline void IGET(T *dest, T *source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe, opdev_sim::Site at = opdev_sim::here())       \
    {                                                                                                                                  \
        opdev_sim::get_now(dest, source, {n, WIDTH, static_cast<uint64_t>(dst) * WIDTH, static_cast<uint64_t>(sst) * WIDTH}, pe,       \
                           #IGET, at);                                                                                                 \
    }

#define OPDEV_SIM_TENSORS(PUT, GET, T)                                                                                                 \
    inline void PUT(T *dst, T *src, const non_contiguous_copy_param &c, int32_t pe, opdev_sim::Site at = opdev_sim::here())            \
    {                                                                                                                                  \
        opdev_sim::put(opdev_sim::mte, dst, src, opdev_sim::rows_of(c, sizeof(T)), pe, #PUT, at);                                      \
    }                                                                                                                                  \
    inline void GET(T *dst, T *src, const non_contiguous_copy_param &c, int32_t pe, opdev_sim::Site at = opdev_sim::here())            \
    {                                                                                                                                  \
        opdev_sim::get(opdev_sim::mte, dst, src, opdev_sim::rows_of(c, sizeof(T)), pe, #GET, at);                                      \
    }                                                                                                                                  \
    inline void PUT(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src, uint32_t n, int pe,                                    \
                    opdev_sim::Site at = opdev_sim::here())                                                                            \
    {                                                                                                                                  \
        PUT(dst.GetPhyAddr(), src.GetPhyAddr(), n, pe, at);                                                                            \
    }                                                                                                                                  \
    inline void GET(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src, uint32_t n, int pe,                                    \
                    opdev_sim::Site at = opdev_sim::here())                                                                            \
    {                                                                                                                                  \
        GET(dst.GetPhyAddr(), src.GetPhyAddr(), n, pe, at);                                                                            \
    }                                                                                                                                  \
    inline void PUT(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src, const non_contiguous_copy_param &c, int pe,            \
                    opdev_sim::Site at = opdev_sim::here())                                                                            \
    {                                                                                                                                  \
        PUT(dst.GetPhyAddr(), src.GetPhyAddr(), c, pe, at);                                                                            \
    }                                                                                                                                  \
    inline void GET(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src, const non_contiguous_copy_param &c, int pe,            \
                    opdev_sim::Site at = opdev_sim::here())                                                                            \
    {                                                                                                                                  \
        GET(dst.GetPhyAddr(), src.GetPhyAddr(), c, pe, at);                                                                            \
    }                                                                                                                                  \
    inline void PUT(AscendC::GlobalTensor<T> dst, AscendC::LocalTensor<T> src, uint32_t n, int32_t pe,                                 \
                    opdev_sim::Site at = opdev_sim::here())                                                                            \
    {                                                                                                                                  \
        src.check(uint64_t{n} * sizeof(T), #PUT, at);                                                                                  \
        opdev_sim::put(opdev_sim::mte, dst.GetPhyAddr(), src.GetPhyAddr(), opdev_sim::one_row(uint64_t{n} * sizeof(T)), pe, #PUT, at); \
    }                                                                                                                                  \
    inline void GET(AscendC::LocalTensor<T> dst, AscendC::GlobalTensor<T> src, uint32_t n, int32_t pe,                                 \
                    opdev_sim::Site at = opdev_sim::here())                                                                            \
    {                                                                                                                                  \
        dst.check(uint64_t{n} * sizeof(T), #GET, at);                                                                                  \
        opdev_sim::get(opdev_sim::mte, dst.GetPhyAddr(), src.GetPhyAddr(), opdev_sim::one_row(uint64_t{n} * sizeof(T)), pe, #GET, at); \
    }

// The signal follows its own data, nothing more: earlier puts are not ordered by it.
#define OPDEV_SIM_SIGNALLED(NAME, T, WIDTH)                                                                                            \
    inline void NAME(T *dst, T *src, size_t n, void *sig_addr, int32_t signal, int sig_op, int pe,                                     \
                     opdev_sim::Site at = opdev_sim::here())                                                                           \
    {                                                                                                                                  \
        opdev_sim::put_now(dst, src, opdev_sim::one_row(n * WIDTH), pe, #NAME, at);                                                    \
        opdev_sim::signal_after(sig_addr, signal, sig_op, pe, #NAME, at);                                                              \
    }

/// put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。
/// put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.
OPDEV_SIM_TYPES(OPDEV_SIM_TYPED)

#define OPDEV_SIM_WIDE(BITS)                                                                                                           \
    OPDEV_SIM_BULK(aclshmem_put##BITS, aclshmem_get##BITS, void, (BITS / 8))                                                           \
    OPDEV_SIM_STRIDED(aclshmem_iput##BITS, aclshmem_iget##BITS, void, (BITS / 8))                                                      \
    OPDEV_SIM_SIGNALLED(aclshmem_put##BITS##_signal, void, (BITS / 8))                                                                 \
    OPDEV_SIM_SIGNALLED(aclshmem_put##BITS##_signal_nbi, void, (BITS / 8))
/// put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。
/// put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.
OPDEV_SIM_WIDE(8)
/// put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。
/// put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.
OPDEV_SIM_WIDE(16)
/// put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。
/// put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.
OPDEV_SIM_WIDE(32)
/// put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。
/// put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.
OPDEV_SIM_WIDE(64)
/// put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。
/// put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.
OPDEV_SIM_WIDE(128)
/// put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。
/// put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.
OPDEV_SIM_BULK(aclshmem_putmem, aclshmem_getmem, void, 1)
/// 阻塞按字节写远端并更新信号（Host 名带 x）。
/// Blocking byte put plus signal update (host spelling has the x prefix).
OPDEV_SIM_SIGNALLED(aclshmem_putmem_signal, void, 1)
/// 非阻塞按字节写远端并更新信号（Host 名带 x）。
/// Non-blocking byte put plus signal update (host spelling has the x prefix).
OPDEV_SIM_SIGNALLED(aclshmem_putmem_signal_nbi, void, 1)
/// 阻塞按字节写远端并更新信号（Host 名带 x）。
/// Blocking byte put plus signal update (host spelling has the x prefix).
OPDEV_SIM_SIGNALLED(aclshmemx_putmem_signal, void, 1)
/// 非阻塞按字节写远端并更新信号（Host 名带 x）。
/// Non-blocking byte put plus signal update (host spelling has the x prefix).
OPDEV_SIM_SIGNALLED(aclshmemx_putmem_signal_nbi, void, 1)
#undef OPDEV_SIM_WIDE
#undef OPDEV_SIM_TYPED
#undef OPDEV_SIM_BULK
#undef OPDEV_SIM_STRIDED
#undef OPDEV_SIM_TENSORS
#undef OPDEV_SIM_SIGNALLED
