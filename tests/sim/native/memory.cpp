// Addresses: which are symmetric, where buffers end, what PEs allocate.
#include "cases.h"

using namespace AscendC;

CASE(bad_pe)
{
    auto *x = symmetric<float>(64);
    run(here, 1, [=] {
        auto *ub = opdev_sim::ub<float *>(0);
        aclshmemx_mte_put_nbi(x, ub, 64, here.faulty ? here.n : here.n - 1, EVENT_ID0);
    });
    aclshmem_barrier_all();
    aclshmem_free(x);
}

CASE(not_symmetric)
{
    auto *x = symmetric<float>(64);
    auto *y = device<float>(64);
    run(here, 1, [=] { aclshmemx_mte_put_nbi(here.faulty ? y : x, opdev_sim::ub<float *>(0), 64, (here.pe + 1) % here.n, EVENT_ID0); });
    aclshmem_barrier_all();
    aclrtFree(y);
    aclshmem_free(x);
}

CASE(heap_bounds)
{
    auto *x = symmetric<float>(100);
    run(here, 1, [=] { aclshmem_float_put(x + 90, opdev_sim::ub<float *>(0), here.faulty ? 11 : 10, (here.pe + 1) % here.n); });
    aclshmem_barrier_all();
    aclshmem_free(x);
}

CASE(heap_bounds_strided)
{
    auto *x = symmetric<float>(100);
    non_contiguous_copy_param c{10, 4, 4, static_cast<uint32_t>(here.faulty ? 11 : 10)};
    run(here, 1, [=] {
        aclshmemx_mte_put_nbi(x, opdev_sim::ub<float *>(0), c, (here.pe + 1) % here.n, EVENT_ID0);
    });
    aclshmem_barrier_all();
    aclshmem_free(x);
}

// A plain store tells nobody; the red zone behind the allocation does.
CASE(heap_store)
{
    auto *x = symmetric<int32_t>(100);
    run(here, 1, [=] { x[here.faulty ? 101 : 99] = 7; });
    aclshmem_free(x);
}

CASE(heap_freed)
{
    auto *x = symmetric<float>(64);
    auto *y = symmetric<float>(64);
    aclshmem_free(x);
    run(here, 1, [=] { aclshmem_float_put(here.faulty ? x : y, opdev_sim::ub<float *>(0), 8, here.pe); });
    aclshmem_free(y);
}

// So far past the end that no allocation holds it: the one before is named.
CASE(heap_far)
{
    auto *x = symmetric<float>(64);
    run(here, 1, [=] { aclshmem_float_p(x + (here.faulty ? 500000 : 63), 1, here.pe); });
    aclshmem_free(x);
}

CASE(gm_bounds)
{
    auto *x = symmetric<float>(256);
    auto *y = device<float>(100);
    aclrtMemset(y, 400, 0, 400);
    run(here, 1, [=] {
        aclshmemx_mte_put_nbi(x, y, opdev_sim::ub<float *>(0), 4096u, here.faulty ? 101u : 100u, here.pe, EVENT_ID0);
    });
    aclrtFree(y);
    aclshmem_free(x);
}

CASE(gm_memcpy)
{
    auto *y = device<char>(100);
    char host[128] = {};
    REQUIRE(aclrtMemcpy(y, 50, host, 51, ACL_MEMCPY_HOST_TO_DEVICE) != 0);
    aclrtMemcpy(y, 128, host, here.faulty ? 101 : 100, ACL_MEMCPY_HOST_TO_DEVICE);
    REQUIRE(aclrtFree(y) == 0);
    REQUIRE(aclrtFree(host) != 0);
}

CASE(ub_bounds)
{
    auto *x = symmetric<float>(64);
    auto *y = device<float>(64);
    aclrtMemset(y, 256, 0, 256);
    run(here, 1, [=] {
        uint64_t offset = 180 * 1024;
        aclshmemx_mte_put_nbi(x, y, opdev_sim::ub<float *>(offset), here.faulty ? 16 * 1024u : 12 * 1024u, 64u, here.pe, EVENT_ID0);
    });
    aclrtFree(y);
    aclshmem_free(x);
}

// The pages behind UB are not mapped.
CASE(ub_plain)
{
    run(here, 2, [=] {
        volatile char *ub = opdev_sim::ub<char *>(0);
        ub[here.faulty ? 192 * 1024 : 192 * 1024 - 1] = 1;
    });
}

CASE(null_pointer)
{
    auto *x = device<int>(4);
    int *volatile p = here.faulty ? nullptr : x;
    run(here, 1, [=] { *static_cast<volatile int *>(p) = 1; });
    aclrtFree(x);
}

CASE(alignment)
{
    auto *x = symmetric<char>(64);
    run(here, 1, [=] { aclshmemx_signal_op(reinterpret_cast<int32_t *>(x + (here.faulty ? 2 : 4)), 1, ACLSHMEM_SIGNAL_SET, here.pe); });
    aclshmem_free(x);
}

CASE(sdma_scratch)
{
    auto *x = symmetric<float>(64);
    run(here, 1, [=] {
        auto *buf = opdev_sim::ub<float *>(here.faulty ? 32 : 64);
        aclshmemx_sdma_put_nbi(x, x + 32, buf, 64u, 32u, here.pe, EVENT_ID0);
        aclshmemx_sdma_quiet(opdev_sim::ub<float *>(64), 64u, EVENT_ID0);
    });
    aclshmem_free(x);
}

CASE(allocation_size)
{
    void *x = aclshmem_malloc(here.faulty && here.pe == 1 ? 2048 : 1024);
    aclshmem_free(x);
}

CASE(allocation_order)
{
    bool swap = here.faulty && here.pe == 1;
    void *x = swap ? aclshmem_calloc(1, 512) : aclshmem_malloc(512);
    void *y = swap ? aclshmem_malloc(512) : aclshmem_calloc(1, 512);
    aclshmem_free(y);
    aclshmem_free(x);
}

CASE(free_order)
{
    void *x = aclshmem_malloc(512);
    void *y = aclshmem_malloc(512);
    bool swap = here.faulty && here.pe == 1;
    aclshmem_free(swap ? y : x);
    aclshmem_free(swap ? x : y);
}

CASE(free_twice)
{
    void *x = aclshmem_malloc(512);
    aclshmem_free(x);
    if (here.faulty) aclshmem_free(x);
}

CASE(heap_leak)
{
    void *x = aclshmem_malloc(512);
    if (!here.faulty) aclshmem_free(x);
}

CASE(heap_full)
{
    void *all = aclshmem_malloc(64 << 20);
    REQUIRE(all != nullptr);
    REQUIRE(aclshmem_malloc(1) == nullptr);
    aclshmem_free(all);
    REQUIRE(aclshmem_malloc(0) == nullptr);
    REQUIRE(aclshmem_align(3, 64) == nullptr);
    void *a = aclshmem_align(4096, 100);
    REQUIRE(reinterpret_cast<uint64_t>(a) % 4096 == 0);
    auto *z = static_cast<char *>(aclshmem_calloc(10, 10));
    for (int i = 0; i < 100; i++) REQUIRE(z[i] == 0);
    aclshmem_free(z);
    aclshmem_free(a);
    aclshmem_free(nullptr);
}

CASE(pointers)
{
    auto *x = symmetric<int>(4);
    REQUIRE(aclshmem_ptr(x, here.pe) == x);
    REQUIRE(aclshmem_ptr(x, here.n) == nullptr);
    int local = 0;
    REQUIRE(aclshmem_ptr(&local, 0) == nullptr);
    auto *theirs = static_cast<int *>(aclshmem_ptr(x, (here.pe + 1) % here.n));
    aclshmem_barrier_all();
    *theirs = 100 + here.pe;
    aclshmem_barrier_all();
    REQUIRE(x[0] == 100 + (here.pe + here.n - 1) % here.n);
    aclshmem_free(x);
}
