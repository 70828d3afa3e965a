// Transfers that are not complete, and what completes them.
#include "cases.h"

using namespace AscendC;

namespace {

constexpr int count = 1000;

// Everybody writes into the next PE's memory and tells it; the reader copies it out.
void exchange(const Here &here, const std::function<void(float *, float *, int)> &write)
{
    auto *x = symmetric<float>(count);
    auto *flag = symmetric<int32_t>(16);
    auto *out = device<float>(count);
    auto *in = device<float>(count);
    float host[count];
    for (int i = 0; i < count; i++) host[i] = static_cast<float>(here.pe * 1000 + i);
    aclrtMemcpy(in, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE);
    run(here, 1, [=] {
        int next = (here.pe + 1) % here.n;
        write(x, in, next);
        aclshmemx_signal_op(flag, 1, ACLSHMEM_SIGNAL_SET, next);
        aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_EQ, 1);
        aclshmemx_mte_get_nbi(out, x, opdev_sim::ub<float *>(0), 4096u, static_cast<uint32_t>(count), here.pe, EVENT_ID0);
        aclshmemx_mte_quiet();
    });
    aclshmem_barrier_all();
    aclrtMemcpy(host, sizeof host, out, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    int from = (here.pe + here.n - 1) % here.n;
    for (int i = 0; i < count; i++) REQUIRE(host[i] == static_cast<float>(from * 1000 + i));
    aclrtFree(in);
    aclrtFree(out);
    aclshmem_free(flag);
    aclshmem_free(x);
}

}  // namespace

CASE(missing_quiet)
{
    exchange(here, [=](float *x, float *in, int next) {
        aclshmemx_mte_put_nbi(x, in, opdev_sim::ub<float *>(0), 4096u, static_cast<uint32_t>(count), next, EVENT_ID0);
        if (!here.faulty) aclshmem_quiet();
    });
}

CASE(missing_event_wait)
{
    exchange(here, [=](float *x, float *in, int next) {
        aclshmemx_mte_put_nbi(x, in, opdev_sim::ub<float *>(0), 4096u, static_cast<uint32_t>(count), next, EVENT_ID0);
        SetFlag<HardEvent::MTE3_S>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_S>(EVENT_ID0);
        // What is issued after the SetFlag is not covered by it.
        if (here.faulty)
            aclshmemx_mte_put_nbi(x, in, opdev_sim::ub<float *>(0), 4096u, static_cast<uint32_t>(count), next, EVENT_ID0);
    });
}

CASE(wrong_engine_quiet)
{
    exchange(here, [=](float *x, float *in, int next) {
        auto *buf = opdev_sim::ub<float *>(0);
        aclshmemx_roce_put_nbi(x, in, buf, static_cast<uint32_t>(count), next);
        if (here.faulty) aclshmem_quiet();
        else aclshmemx_roce_quiet(static_cast<uint32_t>(next), buf, EVENT_ID0);
    });
}

CASE(wrong_pe_quiet)
{
    exchange(here, [=](float *x, float *in, int next) {
        auto *buf = opdev_sim::ub<float *>(0);
        aclshmemx_udma_put_nbi(x, in, buf, static_cast<uint32_t>(count), next);
        aclshmemx_udma_quiet(here.faulty ? here.pe : next);
    });
}

CASE(sdma_quiet)
{
    exchange(here, [=](float *x, float *in, int next) {
        auto *buf = opdev_sim::ub<float *>(0);
        aclshmemx_sdma_put_nbi(x, in, buf, 64u, static_cast<uint32_t>(count), next, EVENT_ID0);
        if (here.faulty) aclshmemx_mte_quiet();
        else aclshmemx_sdma_quiet(buf, 64u, EVENT_ID0);
    });
}

CASE(blocking_put)
{
    exchange(here, [=](float *x, float *in, int next) { aclshmem_float_put(x, in, count, next); });
}

// The wait lets MTE2 go on; the scalar unit, which signals, has not waited.
CASE(signal_overtakes)
{
    exchange(here, [=](float *x, float *in, int next) {
        aclshmemx_mte_put_nbi(x, in, opdev_sim::ub<float *>(0), 4096u, static_cast<uint32_t>(count), next, EVENT_ID0);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        if (here.faulty) return;
        SetFlag<HardEvent::MTE2_S>(EVENT_ID1);
        WaitFlag<HardEvent::MTE2_S>(EVENT_ID1);
    });
}

// Nobody reads it, but nobody waited for it either.
CASE(never_completed)
{
    auto *x = symmetric<float>(64);
    run(here, 1, [=] {
        auto *buf = opdev_sim::ub<float *>(0);
        aclshmemx_roce_put_nbi(x, x + 32, buf, 32u, (here.pe + 1) % here.n);
    });
    if (!here.faulty) {
        aclshmemx_quiet_on_stream(here.stream);
        aclrtSynchronizeStream(here.stream);
    }
    aclshmem_barrier_all();
    aclshmem_free(x);
}

CASE(source_changed)
{
    auto *x = symmetric<float>(64);
    run(here, 1, [=] {
        auto *ub = opdev_sim::ub<float *>(0);
        for (int i = 0; i < 64; i++) ub[i] = 1;
        aclshmemx_mte_put_nbi(x, ub, 64, (here.pe + 1) % here.n, EVENT_ID0);
        if (!here.faulty) aclshmemx_mte_quiet();
        for (int i = 0; i < 64; i++) ub[i] = 2;
    });
    aclshmem_barrier_all();
    for (int i = 0; i < 64; i++) REQUIRE(x[i] == 1);
    aclshmem_free(x);
}

// A put by way of UB stores from it until it is complete: the next one may not load into the same bytes before.
CASE(way_loaded_again)
{
    auto *x = symmetric<float>(128);
    auto *y = device<float>(128);
    for (int i = 0; i < 128; i++) y[i] = i;
    run(here, 1, [=] {
        auto *ub = opdev_sim::ub<float *>(1024);
        aclshmemx_mte_put_nbi(x, y, ub, 4096, 40, here.pe, EVENT_ID0);
        // What the first one used ends before this: 160 bytes of the 4096 it was offered.
        aclshmemx_mte_put_nbi(x + 40, y + 40, ub + 40, 4096, 24, here.pe, EVENT_ID0);
        if (!here.faulty) {
            SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
            WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        }
        aclshmemx_mte_put_nbi(x + 64, y + 64, ub, 4096, 64, here.pe, EVENT_ID0);
    });
    for (int i = 0; i < 128; i++) REQUIRE(x[i] == static_cast<float>(i));
    aclrtFree(y);
    aclshmem_free(x);
}

CASE(way_filled_by_get)
{
    auto *x = symmetric<float>(128);
    auto *y = device<float>(128);
    run(here, 1, [=] {
        auto *ub = opdev_sim::ub<float *>(1024);
        non_contiguous_copy_param rows{4, 9, 16, 16};
        aclshmemx_mte_put_nbi(x, y, ub, 4096, rows, here.pe, EVENT_ID0);
        if (!here.faulty) aclshmem_quiet();
        // Rows of 36 bytes stand 64 bytes apart in UB: this is the last one.
        aclshmemx_mte_get_nbi(ub + 48, x + 64, 8, here.pe, EVENT_ID1);
    });
    aclrtFree(y);
    aclshmem_free(x);
}

// Gaps between rows are nobody's: reading them while the rows are pending is fine, reading a row is not.
CASE(strided_gap)
{
    auto *x = symmetric<float>(64);
    run(here, 1, [=] {
        non_contiguous_copy_param rows{4, 8, 8, 16};
        aclshmemx_mte_put_nbi(x, opdev_sim::ub<float *>(1024), rows, here.pe, EVENT_ID0);
        aclshmem_float_g(x + (here.faulty ? 23 : 24), here.pe);
    });
    aclshmem_free(x);
}

// Lazy mode: a plain look at the memory sees that the bytes have not come; the same look after quiet sees them.
CASE(lazy_bytes)
{
    auto *x = symmetric<int32_t>(16);
    run(here, 1, [=] {
        auto *ub = opdev_sim::ub<int32_t *>(0);
        ub[0] = 5;
        aclshmemx_mte_put_nbi(x, ub, 1, here.pe, EVENT_ID0);
        int32_t before = *static_cast<volatile int32_t *>(x);
        aclshmemx_mte_quiet();
        bool lazy = std::string(getenv("OPDEV_SIM_NBI")) == "lazy";
        REQUIRE(before == (lazy ? 0 : 5));
        REQUIRE(*static_cast<volatile int32_t *>(x) == 5);
    });
    aclshmem_free(x);
}

CASE(atomic_add_mode)
{
    auto *sum = symmetric<float>(64);
    run(here, 4, [=] {
        LocalTensor<float> one(TPosition::VECOUT, 0, 64);
        GlobalTensor<float> to;
        to.SetGlobalBuffer(sum, 64);
        for (int i = 0; i < 64; i++) one.SetValue(i, 1.0f);
        SetAtomicAdd<float>();
        for (int pe = 0; pe < here.n; pe++) aclshmemx_mte_put_nbi(to, one, 64u, pe, EVENT_ID0);
        PipeBarrier<PIPE_ALL>();
        SetAtomicNone();
    });
    aclshmem_barrier_all();
    for (int i = 0; i < 64; i++) REQUIRE(sum[i] == static_cast<float>(4 * here.n));
    aclshmem_free(sum);
}
