// Flags between the cores of one launch: CrossCoreSetFlag and CrossCoreWaitFlag.
//
// A core has a counter for each of 16 flag numbers.  Mode 0 raises it on all cores of the kind once all of them have set
// it, mode 1 on the vector cores of a block, mode 2 on the other kind of core of the block (on the cube core once all
// its vector cores have set it).  The counters lie in the control block, so that waits for them are part of the wait graph.
#include <cstdio>

#include "opdev_sim/launch.h"
#include "opdev_sim/wait.h"
#include "shared.h"

namespace opdev_sim {

namespace {

// Core b * 3 is the cube core of block b, the two behind it are its vector cores; those a kernel does not have are never
// asked.
constexpr int64_t cores_of_block = 3;

int64_t self()
{
    const Block &b = current();
    return b.block_idx * cores_of_block + (b.is_aic ? 0 : 1 + b.sub_block_idx);
}

Word &slot(Word *table, int64_t core, int flag) { return table[core * cross_flags + flag]; }

void raise(Launch &l, int64_t core, int flag)
{
    Word &counter = slot(l.raised, core, flag);
    world.control->moves.fetch_add(1);
    counter.fetch_add(1);
    wake(counter);
}

// Whether this call completes a round of `members` sets.
bool gather(Launch &l, int64_t group, int flag, int64_t members)
{
    return (slot(l.gathered, group, flag).fetch_add(1) + 1) % static_cast<uint32_t>(members) == 0;
}

Launch &launch_of(int flag, const char *what, Site at)
{
    current().site = at;
    Launch *l = running_launch();
    if (l == nullptr) fault(kind::unsupported, at, "%s is called outside a kernel", "%s 不在 kernel 里调用", what);
    if (flag < 0 || flag >= cross_flags) fault(kind::unsupported, at, "%s(%d): cross-core flags are 0 to 15", "%s(%d)：核间标志只能是 0 到 15", what, flag);
    if (current().block_num * cores_of_block > cross_cores)
        fault(kind::unsupported, at, "%s: cross-core flags of more than %d blocks are not in the stand-in", "%s：模拟环境的核间标志最多支持 %d 个 block", what,
              static_cast<int>(cross_cores / cores_of_block));
    return *l;
}

}  // namespace

void cross_set(int mode, int flag, Site at)
{
    Launch &l = launch_of(flag, "CrossCoreSetFlag", at);
    const Block &b = current();
    int64_t first = b.block_idx * cores_of_block;
    if (mode == 2) {
        if (b.is_aic) {
            for (int64_t sub = 1; sub < cores_of_block; sub++) raise(l, first + sub, flag);
        } else if (gather(l, first, flag, b.sub_block_num)) {
            raise(l, first, flag);
        }
    } else if (mode == 1) {
        if (gather(l, first + 1, flag, b.sub_block_num))
            for (int64_t sub = 0; sub < b.sub_block_num; sub++) raise(l, first + 1 + sub, flag);
    } else {
        int64_t width = b.is_aic ? 1 : b.sub_block_num;
        int64_t offset = b.is_aic ? 0 : 1;
        // Where no block counts a round of its own: mode 2 has the cube core's place, mode 1 the first vector core's.
        if (gather(l, b.is_aic ? 2 : 2 + cores_of_block, flag, b.block_num * width))
            for (int64_t other = 0; other < b.block_num; other++)
                for (int64_t sub = 0; sub < width; sub++) raise(l, other * cores_of_block + offset + sub, flag);
    }
}

void cross_wait(int flag, uint32_t times, Site at)
{
    Launch &l = launch_of(flag, "CrossCoreWaitFlag", at);
    wait_word(slot(l.raised, self(), flag), ge, times, "CrossCoreWaitFlag", at);
}

void reset_cross_flags(Launch &l)
{
    // Most kernels have none, and the page stays untouched.
    for (Word &w : l.raised)
        if (w.load() != 0) w.store(0);
    for (Word &w : l.gathered)
        if (w.load() != 0) w.store(0);
}

bool describe_cross_flag(const Launch &l, uint64_t offset, char *room, size_t size, bool zh)
{
    uint64_t begin = offset_of(l.raised);
    if (offset < begin || offset >= begin + sizeof l.raised) return false;
    auto index = static_cast<int64_t>((offset - begin) / sizeof(Word));
    int64_t core = index / cross_flags;
    int flag = static_cast<int>(index % cross_flags);
    int64_t block = core / cores_of_block;
    bool cube = core % cores_of_block == 0;
    uint32_t set = l.raised[index].load();
    uint32_t part = l.gathered[block * cores_of_block * cross_flags + flag].load() % 2;
    if (zh)
        snprintf(room, size, "：核间标志 %d，已为 block %lld 的%s置位 %u 次%s", flag, static_cast<long long>(block), cube ? " cube 核" : "向量核", set,
                 cube && part != 0 ? "（两个向量核中只有一个置了位）" : "");
    else
        snprintf(room, size, " for cross-core flag %d, set %u times for the %s core of block %lld%s", flag, set, cube ? "cube" : "vector",
                 static_cast<long long>(block), cube && part != 0 ? " (only one of its two vector cores has set it)" : "");
    return true;
}

}  // namespace opdev_sim
