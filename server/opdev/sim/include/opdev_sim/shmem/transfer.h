// What all put and get families share: addresses checked and translated, then one transfer in opdev_sim/order.h.
#pragma once
#include "kernel_operator.h"
#include "opdev_sim/heap.h"
#include "opdev_sim/order.h"
#include "opdev_sim/shmem/types.h"

namespace opdev_sim {

// Bytes from the first to the last byte of the rows on one side.
inline uint64_t extent(const Rows &r, uint64_t stride) { return r.rows == 0 || r.length == 0 ? 0 : (r.rows - 1) * stride + r.length; }

// Strides of the public calls count elements; ours count bytes.
inline Rows rows_of(const non_contiguous_copy_param &c, uint64_t width)
{
    return {c.repeat, c.length * width, c.dst_ld * width, c.src_ld * width};
}
inline Rows one_row(uint64_t bytes) { return {1, bytes, bytes, bytes}; }
// The same rows by way of a UB buffer, as far as they use it: a row begins on 32 bytes there.
inline Rows through(Rows r, const void *buffer, uint64_t bytes)
{
    uint64_t used = r.rows == 1 ? r.length : r.rows * ((r.length + 31) / 32 * 32);
    r.by_way_of = ub_address(reinterpret_cast<uint64_t>(buffer));
    r.way_bytes = used < bytes ? used : bytes;
    return r;
}
template <class T>
Rows through(const Rows &r, const AscendC::LocalTensor<T> &buffer)
{
    uint64_t bytes = static_cast<uint64_t>(buffer.GetSize()) * sizeof(T);
    return through(r, buffer.GetPhyAddr(), bytes == 0 ? ~0ull : bytes);
}

// A local address as kernels give it: global memory, or UB by pointer or offset.
inline void *local(const void *p, uint64_t bytes, const char *what, Site at)
{
    void *real = ub_address(reinterpret_cast<uint64_t>(p));
    if (real != p || in_ub(real)) check_ub(real, bytes, what, at);
    else check_gm(real, bytes, what, at);
    return real;
}

inline void put(Engine engine, void *dst, const void *src, Rows rows, int pe, const char *what, Site at)
{
    uint64_t n = extent(rows, rows.dst_stride);
    void *to = translate(static_cast<const void *>(dst), pe, n, what, at);
    issue(engine, to, local(src, extent(rows, rows.src_stride), what, at), rows, pe, what, at);
}

// Into UB a get is complete on return, as the load part of every engine call is.
inline void get(Engine engine, void *dst, const void *src, Rows rows, int pe, const char *what, Site at)
{
    void *from = translate(src, pe, extent(rows, rows.src_stride), what, at);
    void *to = local(dst, extent(rows, rows.dst_stride), what, at);
    if (in_ub(to)) move(to, from, rows, what, at);
    else issue(engine, to, from, rows, pe, what, at);
}

inline void put_now(void *dst, const void *src, Rows rows, int pe, const char *what, Site at)
{
    void *to = translate(static_cast<const void *>(dst), pe, extent(rows, rows.dst_stride), what, at);
    move(to, local(src, extent(rows, rows.src_stride), what, at), rows, what, at);
}
inline void get_now(void *dst, const void *src, Rows rows, int pe, const char *what, Site at)
{
    void *from = translate(src, pe, extent(rows, rows.src_stride), what, at);
    move(local(dst, extent(rows, rows.dst_stride), what, at), from, rows, what, at);
}

// The scratch buffer an engine call brings: where it must lie and how large it must be.
inline void check_scratch(const void *buffer, uint64_t bytes, uint64_t least, uint64_t alignment, const char *what, Site at)
{
    void *real = ub_address(reinterpret_cast<uint64_t>(buffer));
    if (bytes < least && checked(kind::ub_bounds))
        fault(kind::ub_bounds, at, "%s: its UB buffer has %llu bytes, the engine needs %llu", "%s：UB 缓冲区只有 %llu 字节，该引擎至少需要 %llu 字节", what,
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(least));
    check_ub(real, bytes, what, at);
    if (current().ub != nullptr && static_cast<uint64_t>(static_cast<uint8_t *>(real) - current().ub) % alignment != 0 && checked(kind::alignment))
        fault(kind::alignment, at, "%s: its UB buffer is not aligned to %llu bytes", "%s：UB 缓冲区未按 %llu 字节对齐", what,
              static_cast<unsigned long long>(alignment));
}
template <class T>
void check_scratch(const AscendC::LocalTensor<T> &buffer, uint64_t least, uint64_t alignment, const char *what, Site at)
{
    uint64_t bytes = static_cast<uint64_t>(buffer.GetSize()) * sizeof(T);
    check_scratch(buffer.GetPhyAddr(), bytes == 0 ? least : bytes, least, alignment, what, at);
}

}  // namespace opdev_sim
