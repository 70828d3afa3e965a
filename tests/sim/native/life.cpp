// Sessions: how they begin, end and begin again.
#include <csignal>
#include <unistd.h>

#include "cases.h"

using namespace AscendC;

namespace {

aclshmemx_init_attr_t attributes(const Here &here, int pe, uint64_t heap = 16 << 20)
{
    aclshmemx_init_attr_t a;
    a.my_pe = pe;
    a.n_pes = here.n;
    a.local_mem_size = heap;
    strcpy(a.ip_port, "tcp://127.0.0.1:8777");
    return a;
}

}  // namespace

CASE(life_again)
{
    for (int round = 0; round < 3; round++) {
        aclshmemx_init_attr_t a = attributes(here, here.pe);
        REQUIRE(aclshmemx_init_status() == ACLSHMEM_STATUS_NOT_INITIALIZED);
        REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) == 0);
        REQUIRE(aclshmemx_init_status() == ACLSHMEM_STATUS_IS_INITIALIZED);
        REQUIRE(aclshmem_my_pe() == here.pe && aclshmem_n_pes() == here.n);
        auto *x = symmetric<int32_t>(16);
        opdev_sim::launch(2, nullptr, [=] { aclshmem_int32_atomic_add(x, 1, 0); });
        aclrtSynchronizeDevice();
        aclshmem_barrier_all();
        if (here.pe == 0) REQUIRE(x[0] == 2 * here.n);
        aclshmem_free(x);
        REQUIRE(aclshmem_finalize() == 0);
    }
}

// One instance at a time, of any number.
CASE(life_instances)
{
    for (uint64_t instance : {3, 5}) {
        aclshmemx_init_attr_t a = attributes(here, here.pe);
        a.instance_id = instance;
        REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) == 0);
        run(here, 1, [=] { REQUIRE(aclshmemx_instance_ctx_set(instance) == 0); });
        REQUIRE(aclshmemx_finalize(instance + 1) != 0);
        a.instance_id = instance + 1;
        if (here.faulty) aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a);
        REQUIRE(aclshmemx_finalize(instance) == 0);
    }
}

CASE(life_bad_attributes)
{
    aclshmemx_init_attr_t a = attributes(here, here.n);
    REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, nullptr) != 0);
    REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) != 0);
    a = attributes(here, 0, 0);
    REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) != 0);
    REQUIRE(aclshmem_malloc(64) == nullptr);
    REQUIRE(aclshmem_finalize() == 0);
}

// Kernels need no session.
CASE(life_alone)
{
    auto *x = device<int32_t>(16);
    aclrtMemset(x, 64, 0, 64);
    opdev_sim::launch(8, nullptr, [=] {
        SyncAll();
        __atomic_fetch_add(x, 1, __ATOMIC_RELAXED);
    });
    aclrtSynchronizeDevice();
    REQUIRE(x[0] == 8);
    aclrtFree(x);
}

CASE(life_same_pe)
{
    aclshmemx_init_attr_t a = attributes(here, here.faulty && here.pe == 1 ? 0 : here.pe);
    a.option_attr.shm_init_timeout = 2;
    REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) == 0);
    aclshmem_finalize();
}

CASE(life_other_heap)
{
    aclshmemx_init_attr_t a = attributes(here, here.pe, here.faulty && here.pe == 1 ? 8 << 20 : 16 << 20);
    REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) == 0);
    aclshmem_finalize();
}

CASE(life_absent)
{
    if (here.faulty && here.pe == 0) return;
    aclshmemx_init_attr_t a = attributes(here, here.pe);
    a.option_attr.shm_init_timeout = 1;
    REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) == 0);
    aclshmem_finalize();
}

// Says where it is and goes on until it is killed.
CASE(life_long)
{
    aclshmemx_init_attr_t a = attributes(here, here.pe);
    REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) == 0);
    auto *x = symmetric<float>(1 << 16);
    printf("ready %d\n", here.pe);
    fflush(stdout);
    for (;;) {
        opdev_sim::launch(4, nullptr, [=] {
            aclshmem_float_put(x, x + 1024, 1024, (here.pe + 1) % here.n);
            aclshmem_barrier_all();
        });
        aclrtSynchronizeDevice();
    }
}
