// Transfers that are not complete when the call returns, and what completes them.
//
// OPDEV_SIM_NBI=now (default) moves the bytes at once, lazy keeps them back until something orders them.  In both modes
// a destination counts as pending until then, and reading it is a fault (unordered-read).
//
// What completes what, as on the hardware:
//   MTE   PipeBarrier<PIPE_ALL|PIPE_MTE3>, a WaitFlag<MTE3_*> (what was issued before its SetFlag), mte_quiet, quiet,
//         fence, barrier, the end of the kernel
//   SDMA  sdma_quiet          RDMA  roce_quiet of that PE, roce_barrier          UDMA  udma_quiet of that PE
//   and the host's quiet_on_stream / handle_wait for all of them.  aclshmem_quiet drains MTE alone.
#pragma once
#include <cstdint>

#include "opdev_sim/context.h"
#include "opdev_sim/report.h"

namespace opdev_sim {

enum Engine : unsigned { mte = 1, sdma = 2, rdma = 4, udma = 8, all_engines = 15 };

// `rows` rows of `length` bytes; strides are the bytes from one row's start to the next one's.
struct Rows {
    uint64_t rows = 1;
    uint64_t length = 0;
    uint64_t dst_stride = 0;
    uint64_t src_stride = 0;
    // The UB an MTE transfer from GM to GM goes through: loaded at once, stored from until the transfer is complete.
    const void *by_way_of = nullptr;
    uint64_t way_bytes = 0;
};

// The engine of calls that leave the choice to the library: what data_op_engine_type of init asked for.
Engine default_engine();

// Starts a transfer.  Addresses are final (translated) and checked; peer is the remote PE, or the own one for a local
// UB-to-GM copy.  Honours the block's atomic mode for MTE writes to GM.
void issue(Engine engine, void *dst, const void *src, Rows rows, int peer, const char *what, Site at);
// A transfer complete on return (blocking calls; MTE2 loads into UB, which have no pending destination in GM).
void move(void *dst, const void *src, Rows rows, const char *what, Site at);

// Number of the block's last transfer: SetFlag keeps it, WaitFlag hands it to complete().
uint64_t ticket();
// Completes the block's transfers on these engines, up to and including that ticket, to that PE (-1: any).
void complete(unsigned engines, uint64_t until = ~0ull, int peer = -1);
// Completes the block's MTE transfers up to that ticket for another pipe than the scalar unit (WaitFlag<MTE3_MTE2>): a
// signal of this block after it may overtake them, and is warned of, until the scalar unit has waited.
void complete_for_pipe(uint64_t until, const char *event, Site at);
void scalar_waited();
void check_signal_order(const char *what, Site at);

// Before the bytes are read by anything but a transfer above: no pending transfer of any PE may write them.
void check_read(const void *p, uint64_t bytes, const char *what, Site at);
// After bytes of GM were written by anything but a transfer above, so that waiters look again.
void written(const void *p, uint64_t bytes);

}  // namespace opdev_sim
