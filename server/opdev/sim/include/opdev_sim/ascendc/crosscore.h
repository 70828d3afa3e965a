// Flags between the cores of one launch: CrossCoreSetFlag and CrossCoreWaitFlag.
//
// A core owns a counter for each of 16 flag numbers.  Mode 0 raises it on all cores of the kind once all of them have set
// it, mode 1 on the vector cores of a block, mode 2 on the other kind of core of the block (on the cube core once all
// its vector cores have set it).  A wait takes one from the own counter.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/ascendc/sync.h"
#include "opdev_sim/order.h"
#include "opdev_sim/wait.h"

namespace opdev_sim {

constexpr int cross_flags = 16;

// The counters of one launch.  Core b * 3 is the cube core of block b, the two behind it are its vector cores; those a
// kernel does not have are never asked.
class CrossCore {
public:
    explicit CrossCore(int64_t blocks)
        : blocks_(blocks), inbox_(static_cast<size_t>(blocks * cores_of_block * cross_flags)), gathered_(inbox_.size())
    {
    }

    int32_t *mine(int flag) { return slot(inbox_, self(), flag); }

    void set(int mode, int flag)
    {
        const Block &block = current();
        const int64_t first = block.block_idx * cores_of_block;
        if (mode == 2) {
            if (block.is_aic) {
                for (int64_t sub = 0; sub < cores_of_block - 1; ++sub) {
                    raise(first + 1 + sub, flag);
                }
            } else if (gather(first, flag, block.sub_block_num)) {
                raise(first, flag);
            }
        } else if (mode == 1) {
            if (gather(first + 1, flag, block.sub_block_num)) {
                for (int64_t sub = 0; sub < block.sub_block_num; ++sub) {
                    raise(first + 1 + sub, flag);
                }
            }
        } else {
            const int64_t width = block.is_aic ? 1 : block.sub_block_num;
            const int64_t offset = block.is_aic ? 0 : 1;
            if (gather(offset, flag, blocks_ * width)) {
                for (int64_t other = 0; other < blocks_; ++other) {
                    for (int64_t sub = 0; sub < width; ++sub) {
                        raise(other * cores_of_block + offset + sub, flag);
                    }
                }
            }
        }
    }

    // One table per launch.  A core may end before another one starts, so tables go by age, not with their last user.
    static std::shared_ptr<CrossCore> of_launch()
    {
        static std::mutex lock;
        static std::map<uint64_t, std::shared_ptr<CrossCore>> tables;
        static thread_local std::shared_ptr<CrossCore> held;
        static thread_local uint64_t held_launch = 0;
        const Block &block = current();
        if (held == nullptr || held_launch != block.launch) {
            const std::lock_guard<std::mutex> guard(lock);
            std::shared_ptr<CrossCore> &table = tables[block.launch];
            if (table == nullptr) {
                table = std::make_shared<CrossCore>(block.block_num);
            }
            held = table;
            while (tables.size() > launches_kept) {
                tables.erase(tables.begin());
            }
            held_launch = block.launch;
        }
        return held;
    }

private:
    static constexpr size_t launches_kept = 64;
    static constexpr int64_t cores_of_block = 3;

    int32_t *slot(std::vector<int32_t> &table, int64_t core, int flag)
    {
        return &table[static_cast<size_t>(core * cross_flags + flag)];
    }
    int64_t self() const
    {
        const Block &block = current();
        return block.block_idx * cores_of_block + (block.is_aic ? 0 : 1 + block.sub_block_idx);
    }
    void raise(int64_t core, int flag)
    {
        int32_t *counter = slot(inbox_, core, flag);
        __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL);
        written(counter, sizeof(*counter));
    }
    // Whether this call completes a round of `members` sets.
    bool gather(int64_t group, int flag, int64_t members)
    {
        return (__atomic_add_fetch(slot(gathered_, group, flag), 1, __ATOMIC_ACQ_REL)) % members == 0;
    }

    int64_t blocks_;
    std::vector<int32_t> inbox_;
    std::vector<int32_t> gathered_;
};

template <class Id>
inline int cross_flag(Id id, const char *what, Site at)
{
    const int number = static_cast<int>(id);
    if (number < 0 || number >= cross_flags) {
        fault(kind::unsupported, at, "%s(%d): cross-core flags are 0 to 15", "%s(%d)：核间标志只能是 0 到 15", what, number);
    }
    return number;
}

}  // namespace opdev_sim

namespace AscendC {

/// 核间置标志。
/// Sets a flag for other cores.
template <uint8_t mode, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t id, Site at = here())
{
    static_assert(mode <= 2, "CrossCoreSetFlag has modes 0, 1 and 2");
    const int flag = opdev_sim::cross_flag(id, "CrossCoreSetFlag", at);
    complete_pipe(pipe);
    opdev_sim::CrossCore::of_launch()->set(mode, flag);
}

/// 等待核间标志。
/// Waits for a flag of other cores.
template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t id, Site at = here())
{
    const int flag = opdev_sim::cross_flag(id, "CrossCoreWaitFlag", at);
    const int32_t wanted = static_cast<int32_t>(++opdev_sim::core("CrossCoreWaitFlag", at).crossed[flag]);
    const auto table = opdev_sim::CrossCore::of_launch();
    opdev_sim::wait_until<int32_t>(table->mine(flag), opdev_sim::ge, wanted, "CrossCoreWaitFlag", at);
}

}  // namespace AscendC
