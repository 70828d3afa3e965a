// What a kernel's code knows about where it runs: its block, its scratch memory, its PE.
#pragma once
#include <cstdint>

#include "opdev_sim/report.h"

namespace opdev_sim {

enum class AtomicOp : uint8_t { none, add, max, min };
enum class Element : uint8_t { none, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

// One per thread.  On the host's threads on_device is false, block_idx is -1 and there is no UB.
struct Block {
    int64_t block_idx = -1;        // of the grid; the cores of a mix kernel's block share it
    int64_t block_num = 0;
    int64_t sub_block_idx = 0;
    int64_t sub_block_num = 1;
    bool on_device = false;
    bool is_aic = false;
    uint8_t *ub = nullptr;     // UB arena; filled with 0xA5 when the block starts, unmapped pages on both sides
    uint64_t ub_size = 0;      // bytes a kernel may use: 196608, or 253952 when the SoC name is Ascend950…
    const char *kernel = "";   // name of the running kernel
    uint64_t launch = 0;       // number of the launch on this PE, from 1
    AtomicOp atomic = AtomicOp::none;        // what a UB-to-GM copy does with the bytes (SetAtomicAdd and friends)
    Element atomic_type = Element::none;
    uint64_t events[64] = {};  // issue tickets held by SetFlag, for the kernel headers to use as they need
    Site site;                 // the last call that told its place
};

Block &current();

int my_pe();
int n_pes();
// The SoC name aclrtGetSocName gives: OPDEV_SIM_SOC, by default "Ascend910B1".
const char *soc_name();
// Bytes of UB on that SoC.
uint64_t ub_bytes();
// Cycles of the simulated system counter: host time at 50 MHz (1 GHz on Ascend950…).  Not device time.
int64_t system_cycle();
int64_t cycles_per_us();

}  // namespace opdev_sim
