// Kernel launches: what `kernel<<<block_dim, l2, stream>>>(args)` becomes, and the barrier of the blocks of one launch.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

#include "opdev_sim/context.h"
#include "opdev_sim/report.h"

namespace opdev_sim {

// Which cores one block of the grid is made of.
enum class Cores { vector, cube, mix_1_1, mix_1_2 };

// Queues the kernel on the stream (nullptr: the default one) as block_dim blocks, a thread each (for mix kernels one
// per core), and returns.  With OPDEV_SIM_GATE=on (default) launch k starts on all PEs together; off lets PEs drift.
void launch(const char *name, uint32_t block_dim, void *stream, std::function<void()> kernel, Cores cores = Cores::vector,
            Site at = here());
inline void launch(uint32_t block_dim, void *stream, std::function<void()> kernel, Site at = here())
{
    launch("kernel", block_dim, stream, std::move(kernel), Cores::vector, at);
}

// All blocks of the running launch (SyncAll, and the core part of a device barrier).  Completes the block's MTE transfers
// first, as SyncAll does with its barrier of all pipes.  Cube cores of a mix kernel pass.
void block_sync(const char *what, Site at);
// All PEs of a team: from a kernel once per block, from the host once per PE.
void pe_barrier(int team, const char *what, Site at);

// Frames of SHMEMI_PROF_START/END; frame 0..1023, blocks 0..63.
void prof_start(int frame, Site at = here());
void prof_end(int frame, Site at = here());

}  // namespace opdev_sim
