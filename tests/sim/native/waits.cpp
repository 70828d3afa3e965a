// Waits that nobody ends, barriers not all come to, signals that mean nothing.
#include <csignal>
#include <unistd.h>

#include "cases.h"

using namespace AscendC;

CASE(signal_nobody_sends)
{
    auto *flag = symmetric<int32_t>(16);
    run(here, 2, [=] {
        if (!here.faulty || here.pe == 0) aclshmemx_signal_op(flag, 7, ACLSHMEM_SIGNAL_SET, (here.pe + 1) % here.n);
        aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_EQ, here.faulty ? 8 : 7);
    });
    aclshmem_barrier_all();
    aclshmem_free(flag);
}

// Each waits for the other before it signals.
CASE(signal_cycle)
{
    auto *flag = symmetric<int32_t>(16);
    run(here, 1, [=] {
        int next = (here.pe + 1) % here.n;
        if (!here.faulty) aclshmemx_signal_op(flag, 1, ACLSHMEM_SIGNAL_ADD, next);
        aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_GE, 1);
        if (here.faulty) aclshmemx_signal_op(flag, 1, ACLSHMEM_SIGNAL_ADD, next);
    });
    aclshmem_barrier_all();
    aclshmem_free(flag);
}

CASE(barrier_skipped)
{
    run(here, 4, [=] {
        if (!here.faulty || here.pe != 1) aclshmem_barrier_all();
    });
}

CASE(blocks_skip_sync)
{
    run(here, 8, [=] {
        if (!here.faulty || GetBlockIdx() < 5) SyncAll();
    });
}

CASE(exit_without_finalize)
{
    if (here.faulty && here.pe == 1) exit(0);
    aclshmem_barrier_all();
}

CASE(peer_killed)
{
    if (here.faulty && here.pe == 1) kill(getpid(), SIGKILL);
    aclshmem_barrier_all();
}

CASE(spinning)
{
    auto *flag = symmetric<int32_t>(16);
    run(here, 1, [=] {
        if (here.faulty && here.pe == 1)
            while (*static_cast<volatile int32_t *>(flag) == 0) usleep(1000);
        aclshmem_barrier_all();
    });
    aclshmem_free(flag);
}

// A store the runtime does not see still ends a wait.
CASE(plain_store_ends_wait)
{
    auto *flag = symmetric<int32_t>(16);
    run(here, 1, [=] {
        auto *theirs = static_cast<int32_t *>(aclshmem_ptr(flag, (here.pe + 1) % here.n));
        usleep(20000);
        *static_cast<volatile int32_t *>(theirs) = 3;
        aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_NE, 0);
    });
    aclshmem_barrier_all();
    aclshmem_free(flag);
}

CASE(signal_reused)
{
    auto *flag = symmetric<int32_t>(16);
    for (int launch = 1; launch <= 2; launch++)
        run(here, 1, [=] {
            aclshmemx_signal_op(flag, here.faulty ? 1 : launch, ACLSHMEM_SIGNAL_SET, (here.pe + 1) % here.n);
            aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_EQ, here.faulty ? 1 : launch);
            aclshmem_barrier_all();
        });
    aclshmem_free(flag);
}

// Counted up, and waited for with the same bound in every launch: from the second on nothing is waited for.
CASE(signal_counted)
{
    auto *flag = symmetric<int32_t>(16);
    for (int launch = 1; launch <= 2; launch++)
        run(here, 1, [=] {
            if (launch == 1 || !here.faulty) aclshmemx_signal_op(flag, 1, ACLSHMEM_SIGNAL_ADD, (here.pe + 1) % here.n);
            aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_GE, here.faulty ? 1 : launch);
            aclshmem_barrier_all();
        });
    aclshmem_free(flag);
}

CASE(signal_reset)
{
    auto *flag = symmetric<int32_t>(16);
    for (int launch = 1; launch <= 3; launch++)
        run(here, 1, [=] {
            aclshmemx_signal_op(flag, 1, ACLSHMEM_SIGNAL_SET, (here.pe + 1) % here.n);
            aclshmem_signal_wait_until(flag, ACLSHMEM_CMP_EQ, 1);
            *static_cast<volatile int32_t *>(flag) = 0;
            aclshmem_barrier_all();
        });
    aclshmem_free(flag);
}

CASE(no_blocks) { run(here, here.faulty ? 0 : 1, [] {}); }
CASE(too_many_blocks) { run(here, here.faulty ? 49 : 48, [] { SyncAll(); }); }

// Launches not all PEs make open the gate, they do not hang.
CASE(gate_uneven)
{
    auto *count = symmetric<int32_t>(16);
    for (int i = 0; i <= here.pe; i++)
        run(here, 2, [=] { aclshmem_int32_atomic_add(count, 1, 0); });
    aclshmem_barrier_all();
    if (here.pe == 0) REQUIRE(count[0] == here.n * (here.n + 1));
    aclshmem_free(count);
}

// The race the gate hides: the slow PE finds the fast one's flag already at the next magic.
CASE(drift)
{
    auto *flag = symmetric<int32_t>(16);
    if (here.pe == 1) usleep(300000);
    for (int magic = 1; magic <= 2; magic++)
        opdev_sim::launch(1, here.stream, [=] {
            if (here.pe == 0) aclshmemx_signal_op(flag + 8, magic, ACLSHMEM_SIGNAL_SET, 1);
            if (here.pe == 1) aclshmem_signal_wait_until(flag + 8, ACLSHMEM_CMP_EQ, magic);
        });
    aclrtSynchronizeStream(here.stream);
    aclshmem_barrier_all();
    aclshmem_free(flag);
}

CASE(many_blocks)
{
    auto *flags = symmetric<int32_t>(16 * 64);
    for (int magic = 1; magic <= 6; magic++)
        run(here, 16, [=] {
            int block = static_cast<int>(GetBlockIdx());
            for (int pe = 0; pe < here.n; pe++) aclshmemx_signal_op(flags + 16 * block, 1, ACLSHMEM_SIGNAL_ADD, pe);
            aclshmem_signal_wait_until(flags + 16 * block, ACLSHMEM_CMP_GE, magic * here.n);
            SyncAll();
            aclshmem_barrier_all();
        });
    for (int block = 0; block < 16; block++) REQUIRE(flags[16 * block] == 6 * here.n);
    aclshmem_free(flags);
}
