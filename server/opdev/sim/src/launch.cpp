// Kernels: the gate, the blocks, the barrier among them and among PEs.
#include "opdev_sim/launch.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "arena.h"
#include "opdev_sim/order.h"
#include "opdev_sim/wait.h"
#include "shared.h"
#include "stream.h"

namespace opdev_sim {

namespace {

std::atomic<uint64_t> launches{0};
thread_local Launch *running = nullptr;

// AIV cores of the SoC: more blocks than that never run together, and barriers among them never end.
uint32_t cores_of_soc()
{
    const char *cores = environment("OPDEV_SIM_AIV", std::strstr(soc_name(), "Ascend950") != nullptr ? "72" : "48");
    return static_cast<uint32_t>(atoi(cores));
}

struct CoreRun {
    int64_t block, blocks, sub, subs;
    bool cube;
};

std::vector<CoreRun> cores_of(uint32_t n, Cores cores)
{
    std::vector<CoreRun> all;
    int64_t blocks = n;
    for (int64_t i = 0; i < blocks; i++) {
        if (cores == Cores::vector) all.push_back({i, blocks, 0, 1, false});
        if (cores == Cores::cube || cores == Cores::mix_1_1 || cores == Cores::mix_1_2) all.push_back({i, blocks, 0, 1, true});
        if (cores == Cores::mix_1_1) all.push_back({i, blocks, 0, 1, false});
        if (cores == Cores::mix_1_2)
            for (int64_t sub = 0; sub < 2; sub++) all.push_back({i, blocks, sub, 2, false});
    }
    return all;
}

Launch &take_launch(uint32_t blocks)
{
    for (Launch &l : mine().launches) {
        uint32_t unused = 0;
        if (!l.used.compare_exchange_strong(unused, 1)) continue;
        l.blocks.store(blocks);
        l.arrived.store(0);
        l.generation.store(0);
        reset_cross_flags(l);
        return l;
    }
    fault(kind::unsupported, {}, "more than %d kernels of one PE run at the same time", "一个 PE 同时运行的核函数超过 %d 个", max_launches);
}

void pass_gate(const char *name, uint64_t number, Site at)
{
    if (!world.session || !world.gate || world.pes == 1) return;
    Word &gate = world.control->gate;
    gate.fetch_add(1);
    wake(gate);
    (void)name;
    wait_word(gate, ge, static_cast<uint32_t>(number * static_cast<uint64_t>(world.pes)), "launch gate", at);
}

void run_block(const CoreRun &core, const char *name, uint64_t number, Launch *launch, Thread *thread, const std::function<void()> &kernel)
{
    adopt_thread(thread);
    Block &b = current();
    b = Block();
    b.block_idx = core.block;
    b.block_num = core.blocks;
    b.sub_block_idx = core.sub;
    b.sub_block_num = core.subs;
    b.on_device = true;
    b.is_aic = core.cube;
    b.ub = take_arena();
    b.ub_size = ub_bytes();
    b.kernel = name;
    b.launch = number;
    running = launch;
    kernel();
    end_of_block();
    give_arena(b.ub);
    running = nullptr;
    b = Block();
    adopt_thread(nullptr);
    launch->left.fetch_sub(1);
    wake(launch->left);
    release_thread(thread);
    look_for_deadlock();
}

}  // namespace

void launch(const char *name, uint32_t block_dim, void *stream, std::function<void()> kernel, Cores cores, Site at)
{
    catch_bad_accesses();
    this_thread();
    if (block_dim == 0) fault(kind::launch, at, "%s: block_dim is 0", "%s：block_dim 为 0", name);
    std::vector<CoreRun> all = cores_of(block_dim, cores);
    uint32_t vectors = 0;
    for (const CoreRun &c : all) vectors += c.cube ? 0 : 1;
    if (vectors > cores_of_soc() && checked(kind::launch))
        fault(kind::launch, at, "%s: %u vector cores asked, %s has %u; blocks would run one after another and barriers never end",
              "%s：需要 %u 个向量核，而 %s 只有 %u 个；多出的核会排队执行，核间同步将永远无法完成", name, vectors, soc_name(), cores_of_soc());
    std::string title = name;
    stream_of(stream).push([=] {
        uint64_t number = launches.fetch_add(1) + 1;
        pass_gate(title.c_str(), number, at);
        // Cube cores take no part in barriers of a mix kernel: in the stand-in the vector cores speak for them.
        Launch &l = take_launch(vectors != 0 ? vectors : static_cast<uint32_t>(all.size()));
        l.left.store(static_cast<uint32_t>(all.size()));
        std::vector<std::thread> threads;
        for (const CoreRun &core : all) {
            Thread *t = claim_thread(Role::block, static_cast<int>(core.block), ThreadState::running);
            threads.emplace_back(run_block, core, title.c_str(), number, &l, t, std::cref(kernel));
        }
        wait_word(l.left, eq, 0, title.c_str(), at);
        for (std::thread &t : threads) t.join();
        l.used.store(0);
    });
}

void block_sync(const char *what, Site at)
{
    current().site = at;
    Launch *l = running;
    if (l == nullptr || current().is_aic) return;
    complete(mte);  // the hardware's SyncAll begins with a barrier of all pipes
    uint32_t generation = l->generation.load();
    if (l->arrived.fetch_add(1) + 1 == l->blocks.load()) {
        l->arrived.store(0);
        l->generation.fetch_add(1);
        wake(l->generation);
        return;
    }
    wait_word(l->generation, ne, generation, what, at);
}

Launch *running_launch() { return running; }

void reset_launches() { launches.store(0); }

namespace {

void team_barrier(int team, const char *what, Site at)
{
    Team &t = world.control->teams[team];
    int index = (world.pe - t.start) / t.stride;
    uint32_t generation = t.generation.load();
    t.arrivals[index].store(generation + 1);
    if (t.arrived.fetch_add(1) + 1 == static_cast<uint32_t>(t.size)) {
        t.arrived.store(0);
        t.generation.fetch_add(1);
        wake(t.generation);
        return;
    }
    wait_word(t.generation, ne, generation, what, at, team);
}

}  // namespace

void pe_barrier(int team, const char *what, Site at)
{
    Block &b = current();
    b.site = at;
    if (team == -1) return;  // not a member: the call does nothing
    if (team < 0 || team >= max_teams || world.control->teams[team].used.load() == 0) {
        if (!world.session && team == 0) return block_sync(what, at);
        fault(kind::unsupported, at, "%s: there is no team %d", "%s：不存在编号为 %d 的 team", what, team);
    }
    if (!b.on_device) return team_barrier(team, what, at);
    block_sync(what, at);
    if (b.block_idx == 0 && b.sub_block_idx == 0 && !b.is_aic) team_barrier(team, what, at);
    block_sync(what, at);
}

}  // namespace opdev_sim
