// What calls mean: values, strides, teams, streams, the profile.
#include "cases.h"

using namespace AscendC;

namespace {

template <class T, class Put, class Get, class P, class G>
void round_trip(const Here &here, Put put, Get get, P p, G g)
{
    auto *x = symmetric<T>(64);
    auto *y = symmetric<T>(64);
    run(here, 1, [=] {
        int next = (here.pe + 1) % here.n;
        for (int i = 0; i < 32; i++) y[i] = static_cast<T>(static_cast<float>(i + here.pe));
        put(x, y, 32, next);
        p(x + 40, static_cast<T>(3.0f), next);
        aclshmem_barrier_all();
        int before = (here.pe + here.n - 1) % here.n;
        for (int i = 0; i < 32; i++) REQUIRE(static_cast<float>(x[i]) == static_cast<float>(i + before));
        REQUIRE(static_cast<float>(x[40]) == 3.0f);
        get(y + 32, x, 32, next);
        for (int i = 0; i < 32; i++) REQUIRE(static_cast<float>(y[32 + i]) == static_cast<float>(i + here.pe));
        REQUIRE(static_cast<float>(g(x + 40, next)) == 3.0f);
    });
    aclshmem_barrier_all();
    aclshmem_free(y);
    aclshmem_free(x);
}

}  // namespace

#define ROUND(N, T)                                                                                    \
    round_trip<T>(here, [](T *d, T *s, size_t n, int pe) { aclshmem_##N##_put(d, s, n, pe); },         \
                  [](T *d, T *s, size_t n, int pe) { aclshmem_##N##_get(d, s, n, pe); },               \
                  [](T *d, T v, int pe) { aclshmem_##N##_p(d, v, pe); },                               \
                  [](T *s, int pe) { return aclshmem_##N##_g(s, pe); });

CASE(typed)
{
    OPDEV_SIM_TYPES(ROUND)
}

CASE(strided)
{
    auto *x = symmetric<int32_t>(64);
    auto *y = symmetric<int32_t>(64);
    for (int i = 0; i < 64; i++) y[i] = i;
    run(here, 1, [=] {
        aclshmem_int32_iput(x, y, 3, 2, 10, here.pe);
        for (int i = 0; i < 10; i++) REQUIRE(x[3 * i] == 2 * i && (i == 0 || x[3 * i - 1] == 0));
        aclshmem_int32_iget(x + 40, y, 1, 5, 8, here.pe);
        for (int i = 0; i < 8; i++) REQUIRE(x[40 + i] == 5 * i);
        aclshmem_put64(x, y, 4, here.pe);
        for (int i = 0; i < 8; i++) REQUIRE(x[i] == i);
        aclshmem_putmem_nbi(x + 8, y + 20, 12, here.pe);
        aclshmem_quiet();
        REQUIRE(x[8] == 20 && x[10] == 22);
        non_contiguous_copy_param c{3, 2, 4, 5};
        aclshmem_int32_put_nbi(x, y, c, here.pe);
        aclshmem_quiet();
        REQUIRE(x[0] == 0 && x[1] == 1 && x[5] == 4 && x[6] == 5 && x[10] == 8 && x[11] == 9);
    });
    aclshmem_free(y);
    aclshmem_free(x);
}

CASE(signals)
{
    auto *x = symmetric<float>(16);
    auto *flag = symmetric<int32_t>(16);
    run(here, 1, [=] {
        int next = (here.pe + 1) % here.n;
        auto *ub = opdev_sim::ub<float *>(0);
        for (int i = 0; i < 16; i++) ub[i] = 2;
        aclshmem_float_put_signal(x, ub, 16, flag, 5, ACLSHMEM_SIGNAL_SET, next);
        REQUIRE(aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_GE, 5) == 5);
        REQUIRE(aclshmem_float_g(x + 15, here.pe) == 2);
        aclshmemx_signal_op(flag + 1, 3, ACLSHMEM_SIGNAL_ADD, next);
        aclshmemx_signal_op(flag + 1, 3, ACLSHMEM_SIGNAL_ADD, next);
        aclshmem_int32_wait_until(flag + 1, ACLSHMEM_CMP_EQ, 6);
        REQUIRE(aclshmem_int32_test(flag + 1, ACLSHMEM_CMP_LE, 6) == 1);
        REQUIRE(aclshmem_int32_test(flag + 1, ACLSHMEM_CMP_LT, 6) == 0);
        aclshmem_float_wait_until(x, ACLSHMEM_CMP_GT, 1.5f);
        aclshmem_int32_wait_until_all(flag, 2, nullptr, ACLSHMEM_CMP_GT, 0);
        REQUIRE(aclshmem_int32_wait_until_any(flag, 2, nullptr, ACLSHMEM_CMP_EQ, 6) == 1);
        int32_t wanted[2] = {9, 6};
        REQUIRE(aclshmem_int32_wait_until_any_vector(flag, 2, nullptr, ACLSHMEM_CMP_EQ, wanted) == 1);
        REQUIRE(aclshmem_int32_test_any_vector(flag, 1, nullptr, ACLSHMEM_CMP_EQ, wanted) == SIZE_MAX);
        int excluded[2] = {0, 1};
        REQUIRE(aclshmem_int32_test_any(flag, 2, excluded, ACLSHMEM_CMP_EQ, 6) == SIZE_MAX);
        size_t found[2];
        REQUIRE(aclshmem_int32_test_some(flag, 2, found, nullptr, ACLSHMEM_CMP_NE, 0) == 2 && found[1] == 1);
    });
    // On the host results come through a pointer.
    size_t where = 0;
    aclshmem_int32_wait_until_any(flag, 2, nullptr, ACLSHMEM_CMP_EQ, 6, &where);
    REQUIRE(where == 1);
    size_t both[2];
    aclshmem_int32_test_some(flag, 2, both, nullptr, ACLSHMEM_CMP_NE, 0, &where);
    REQUIRE(where == 2 && both[1] == 1);
    aclshmem_barrier_all();
    aclshmem_free(flag);
    aclshmem_free(x);
}

CASE(atomics)
{
    auto *x = symmetric<int64_t>(8);
    auto *f = symmetric<float>(8);
    auto *h = symmetric<half>(8);
    run(here, 4, [=] {
        for (int i = 0; i < 25; i++) {
            aclshmem_int64_atomic_add(x, 2, 0);
            aclshmemx_roce_atomic_inc(x + 1, 0);
            aclshmemx_udma_atomic_fetch_add(x + 2, int64_t{1}, 0);
            aclshmem_float_atomic_add(f, 0.5f, 0);
            aclshmem_half_atomic_add(h, half(1.0f), 0);
        }
        aclshmemx_roce_atomic_or(x + 3, int64_t{1} << here.pe, 0);
        aclshmem_barrier_all();
        if (here.pe != 0 || GetBlockIdx() != 0) return;
        REQUIRE(x[0] == 200 * here.n && x[1] == 100 * here.n && x[2] == 100 * here.n && x[3] == (1 << here.n) - 1);
        REQUIRE(f[0] == 50.0f * static_cast<float>(here.n));
        REQUIRE(static_cast<float>(h[0]) == 100.0f * static_cast<float>(here.n));
        REQUIRE(aclshmem_int64_atomic_compare_swap(x, 200 * here.n, 7, 0) == 200 * here.n);
        REQUIRE(aclshmem_int64_atomic_compare_swap(x, 1, 9, 0) == 7);
        REQUIRE(aclshmem_int64_atomic_swap(x, 4, 0) == 7 && aclshmem_int64_atomic_fetch(x, 0) == 4);
        aclshmem_float_atomic_set(f, 1.25f, 0);
        REQUIRE(aclshmem_float_atomic_fetch(f, 0) == 1.25f);
        aclshmem_barrier(ACLSHMEM_TEAM_INVALID);  // no member: nothing happens
        REQUIRE(aclshmem_int64_atomic_fetch_xor(x, 5, 0) == 4 && x[0] == 1);
    });
    aclshmem_barrier_all();
    aclshmem_free(h);
    aclshmem_free(f);
    aclshmem_free(x);
}

CASE(teams)
{
    aclshmem_team_t even = 0;
    aclshmem_team_t again = 0;
    REQUIRE(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 2, (here.n + 1) / 2, &even) == 0);
    REQUIRE((even != ACLSHMEM_TEAM_INVALID) == (here.pe % 2 == 0));
    REQUIRE(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 2, (here.n + 1) / 2, &again) == 0);
    REQUIRE(again == ACLSHMEM_TEAM_INVALID || again != even);
    auto *x = symmetric<int32_t>(16);
    if (even != ACLSHMEM_TEAM_INVALID) {
        REQUIRE(aclshmem_team_n_pes(even) == (here.n + 1) / 2 && aclshmem_team_my_pe(even) == here.pe / 2);
        REQUIRE(aclshmem_team_translate_pe(even, 1, ACLSHMEM_TEAM_WORLD) == 2);
        REQUIRE(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, 1, even) == -1);
        REQUIRE(aclshmem_team_pe_mapping(even, 1) == 2);
        // Only the members meet.
        run(here, 4, [=] {
            aclshmem_int32_atomic_add(x, 1, 0);
            aclshmem_barrier(even);
            REQUIRE(aclshmem_int32_g(x, 0) == 4 * ((here.n + 1) / 2));
        });
    } else {
        run(here, 4, [=] { aclshmem_barrier(even); });
    }
    // Calls over RDMA want the record of a team, with the default scratch or one of the caller's.
    run(here, 1, [=] {
        auto *ub = opdev_sim::ub<uint8_t *>(0);
        aclshmemx_roce_barrier_all(ub, EVENT_ID0);
        aclshmemx_roce_sync_all(ub, EVENT_ID0);
        aclshmemx_team_t *world = aclshmemi_get_state()->team_pools[ACLSHMEM_TEAM_WORLD];
        REQUIRE(world->size == here.n && world->mype == here.pe && world->team_idx == ACLSHMEM_TEAM_WORLD);
        REQUIRE(aclshmemx_roce_team_sync(world) == 0 && aclshmemx_roce_sync(world, ub, EVENT_ID0) == 0);
        if (even == ACLSHMEM_TEAM_INVALID) return;
        aclshmemx_team_t *team = aclshmemi_get_state()->team_pools[even];
        REQUIRE(team->start == 0 && team->stride == 2 && team->size == (here.n + 1) / 2 && team->mype == here.pe / 2);
        REQUIRE(team->pe_mapping[1] == 2 && team->pe_mapping[ACLSHMEM_MAX_PES + 2] == 1 && team->pe_mapping[ACLSHMEM_MAX_PES + 1] == -1);
        REQUIRE(aclshmemx_roce_barrier(team) == 0 && aclshmemx_roce_barrier(team, ub, EVENT_ID0) == 0);
    });
    aclshmem_team_t row = 0;
    aclshmem_team_t column = 0;
    REQUIRE(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &row, &column) == 0);
    REQUIRE(aclshmem_team_my_pe(row) == here.pe % 2 && aclshmem_team_my_pe(column) == here.pe / 2);
    aclshmem_barrier(row);
    aclshmem_barrier(column);
    REQUIRE(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, 0, 1, here.n + 1, &again) != 0);
    aclshmem_team_destroy(row);
    aclshmem_team_destroy(column);
    aclshmem_team_destroy(even);
    aclshmem_free(x);
}

CASE(streams)
{
    auto *x = symmetric<int32_t>(16);
    auto *y = device<int32_t>(16);
    aclrtStream other = nullptr;
    aclrtCreateStream(&other);
    aclrtEvent event = nullptr;
    aclrtCreateEvent(&event);
    int32_t five = 5;
    aclrtMemcpyAsync(y, 64, &five, 4, ACL_MEMCPY_HOST_TO_DEVICE, here.stream);
    aclshmemx_putmem_on_stream(x, y, 4, (here.pe + 1) % here.n, here.stream);
    aclshmemx_barrier_all_on_stream(here.stream);
    aclrtRecordEvent(event, here.stream);
    aclrtStreamWaitEvent(other, event);
    aclshmemx_signal_op_on_stream(x + 1, 9, ACLSHMEM_SIGNAL_SET, (here.pe + 1) % here.n, other);
    aclshmemx_signal_wait_until_on_stream(x + 1, ACLSHMEM_CMP_EQ, 9, other);
    aclrtSynchronizeStream(other);
    REQUIRE(x[0] == 5 && x[1] == 9);
    aclrtDestroyEvent(event);
    aclrtDestroyStream(other);
    aclrtFree(y);
    aclshmem_free(x);
}

CASE(profile)
{
    run(here, 2, [] {
        for (int i = 0; i < 3; i++) {
            SHMEMI_PROF_START(1);
            SHMEMI_PROF_END(1);
        }
        SHMEMI_PROF_START(1000);
        SHMEMI_PROF_END(1000);
    });
    aclshmem_prof_pe_t *profile = nullptr;
    aclshmemx_get_prof(&profile, true);
    REQUIRE((profile != nullptr) == (here.pe == atoi(getenv("SHMEM_CYCLE_PROF_PE"))));
    if (profile != nullptr) REQUIRE(profile->block_prof[1].ccount[1] == 3 && profile->block_prof[0].ccount[0] == 0);
}

CASE(mix)
{
    auto *seen = device<int32_t>(64);
    aclrtMemset(seen, 256, 0, 256);
    auto kernel = [=] {
        if ASCEND_IS_AIC {
            seen[32 + GetBlockIdx()] = 1;
            return;
        }
        seen[GetBlockIdx()] = 1 + static_cast<int32_t>(GetSubBlockIdx());
        SyncAll();
    };
    opdev_sim::kernel_call("mix", opdev_sim::Cores::mix_1_2, kernel, 4, nullptr, here.stream)();
    aclrtSynchronizeStream(here.stream);
    for (int i = 0; i < 8; i++) REQUIRE(seen[i] == 1 + i % 2);
    for (int i = 0; i < 4; i++) REQUIRE(seen[32 + i] == 1);
    aclrtFree(seen);
}

CASE(old_names)
{
    auto *x = static_cast<float *>(shmem_calloc(64, 4));
    auto *flag = static_cast<int32_t *>(shmem_malloc(64));
    aclrtMemset(flag, 64, 0, 64);
    shmem_barrier_all();
    run(here, 1, [=] {
        int next = (shmem_my_pe() + 1) % shmem_n_pes();
        auto *ub = opdev_sim::ub<float *>(0);
        ub[0] = 4;
        shmem_mte_put_mem_nbi(x, ub, 1, next, EVENT_ID0);
        shmem_quiet();
        shmemx_signal_op(flag, 2, ACLSHMEM_SIGNAL_SET, next);
        shmem_signal_wait_until(flag, ACLSHMEM_CMP_EQ, 2);
        REQUIRE(shmem_float_g(x, here.pe) == 4);
    });
    shmem_barrier_all();
    shmem_free(flag);
    shmem_free(x);
}
