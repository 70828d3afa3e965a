// Cycle profiling: SHMEMI_PROF_* and the table of aclshmemx_get_prof, laid out as the library prints it.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "opdev_sim/launch.h"
#include "opdev_sim/order.h"
#include "shared.h"
#include "shmem.h"

namespace opdev_sim {

namespace {

aclshmem_prof_pe_t profile;
bool on = false;

void count(int frame, int sign, Site at)
{
    if (!on || frame < 0 || frame >= ACLSHMEM_CYCLE_PROF_FRAME_CNT) return;
    Block &b = current();
    b.site = at;
    int64_t core = b.is_aic ? b.block_idx : b.block_idx * b.sub_block_num + b.sub_block_idx;
    if (core >= ACLSHMEM_CYCLE_PROF_MAX_BLOCK) {
        // The library's own bound is wrong here: on the device this writes past its buffer.
        if (checked(kind::launch))
            fault(kind::launch, at, "SHMEMI_PROF on block %lld: the profile has room for blocks 0 to 63", "SHMEMI_PROF 用于第 %lld 个核，而统计表只能容纳 0 到 63 号核",
                  static_cast<long long>(core));
        return;
    }
    complete(mte);  // the macros begin with a full pipe barrier
    aclshmem_prof_block_t &p = profile.block_prof[core < 0 ? 0 : core];
    p.cycles[frame] += sign * system_cycle();
    if (sign > 0) p.ccount[frame]++;
}

}  // namespace

int64_t cycles_per_us() { return std::strstr(soc_name(), "Ascend950") != nullptr ? 1000 : 50; }

int64_t system_cycle()
{
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (t.tv_sec * 1000000000LL + t.tv_nsec) * cycles_per_us() / 1000;
}

void reset_profile()
{
    std::memset(&profile, 0, sizeof profile);
    const char *chosen = getenv("SHMEM_CYCLE_PROF_PE");
    long pe = chosen != nullptr ? strtol(chosen, nullptr, 10) : -1;
    if (chosen != nullptr && (pe < 0 || pe >= ACLSHMEM_MAX_PES)) pe = 0;
    profile.pe_id = static_cast<int32_t>(pe);
    on = profile.pe_id == world.pe;
}

void prof_start(int frame, Site at) { count(frame, -1, at); }
void prof_end(int frame, Site at) { count(frame, 1, at); }

}  // namespace opdev_sim

void aclshmemx_get_prof(aclshmem_prof_pe_t **out, bool verbose)
{
    using namespace opdev_sim;
    if (!on) return;
    if (out != nullptr) *out = &profile;
    if (!verbose) return;
    const char *thick = "============================================================";
    const char *thin = "------------------------------------------------------------";
    printf("%s\n%-10s%-10s%-15s%-15s%-15s\n%s\n", thick, "BlockID", "FrameID", "Cycles", "Count", "AvgTime(us)", thin);
    for (int block = 0; block < ACLSHMEM_CYCLE_PROF_MAX_BLOCK; block++)
        for (int frame = 0; frame < ACLSHMEM_CYCLE_PROF_FRAME_CNT; frame++) {
            const aclshmem_prof_block_t &p = profile.block_prof[block];
            if (p.ccount[frame] == 0) continue;
            double average = static_cast<double>(p.cycles[frame]) / static_cast<double>(p.ccount[frame]) / static_cast<double>(cycles_per_us());
            printf("%-10d%-10d%-15lld%-15lld%-15.3f\n", block, frame, static_cast<long long>(p.cycles[frame]),
                   static_cast<long long>(p.ccount[frame]), average);
        }
    printf("%s\n", thick);
    fflush(stdout);
}

void aclshmemx_show_prof() { aclshmemx_get_prof(nullptr, true); }
