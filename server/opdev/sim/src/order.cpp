// Pending transfers: when their bytes move, and who may look at what they write.
#include "opdev_sim/order.h"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "atomic_move.h"
#include "flights.h"
#include "opdev_sim/heap.h"
#include "shared.h"

namespace opdev_sim {

namespace {

struct Transfer {
    uint64_t id = 0;
    Engine engine = mte;
    int peer = 0;
    uint8_t *dst = nullptr;
    const uint8_t *src = nullptr;
    Rows rows;
    AtomicOp atomic = AtomicOp::none;
    Element atomic_type = Element::none;
    std::vector<uint8_t> staged;  // the bytes, for what an engine has read when the call returns
    uint64_t checksum = 0;
    Flight flight;
    const char *what = "";
    Site at;
};

thread_local uint64_t issued = 0;
// The last transfer into a symmetric heap that is complete for a pipe, but not for the scalar unit.
struct Overtaken {
    bool any = false;
    int line = 0;
    const char *event = "", *what = "";
    Site at;
};
thread_local Overtaken overtaken;
thread_local std::vector<Transfer> own;  // MTE and SDMA: each block has its own queue

// RDMA and UDMA have one queue for all blocks of a PE; what blocks leave behind of SDMA ends up here, too.
std::mutex shared_lock;
std::vector<Transfer> common;

uint64_t sum_rows(const uint8_t *src, const Rows &r)
{
    uint64_t sum = 1469598103934665603ull;
    for (uint64_t row = 0; row < r.rows; row++) {
        const uint8_t *p = src + row * r.src_stride;
        uint64_t i = 0;
        for (; i + 8 <= r.length; i += 8) {
            uint64_t word;
            std::memcpy(&word, p + i, 8);
            sum = (sum ^ word) * 1099511628211ull;
        }
        for (; i < r.length; i++) sum = (sum ^ p[i]) * 1099511628211ull;
    }
    return sum | 1;  // 0 means: not taken
}

void move_rows(uint8_t *dst, const uint8_t *src, const Rows &r, AtomicOp atomic, Element type)
{
    for (uint64_t row = 0; row < r.rows; row++) {
        uint8_t *to = dst + row * r.dst_stride;
        const uint8_t *from = src + row * r.src_stride;
        if (atomic != AtomicOp::none) atomic_row(atomic, type, to, from, r.length);
        else std::memmove(to, from, r.length);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

uint64_t span(uint64_t rows, uint64_t length, uint64_t stride) { return rows == 0 ? 0 : (rows - 1) * stride + length; }

void finish(Transfer &t)
{
    if (t.checksum != 0 && sum_rows(t.src, t.rows) != t.checksum && checked(kind::source_changed))
        fault(kind::source_changed, t.at, "%s: its source was overwritten before the transfer was complete (wait for it first)",
              "%s：传输尚未完成，源数据就被改写（应先等待其完成）", t.what);
    if (world.lazy) {
        if (!t.staged.empty()) {
            Rows dense = t.rows;
            dense.src_stride = t.rows.length;
            move_rows(t.dst, t.staged.data(), dense, t.atomic, t.atomic_type);
        } else {
            move_rows(t.dst, t.src, t.rows, t.atomic, t.atomic_type);
        }
    }
    land(t.flight);
    written(t.dst, span(t.rows.rows, t.rows.length, t.rows.dst_stride));
}

// Nothing may be loaded into UB that a pending transfer of this block still stores from.  Plain stores of the scalar unit
// are seen later, by the checksum of what was there.
void check_load(const uint8_t *p, uint64_t bytes, const char *what, Site at)
{
    if (p == nullptr || bytes == 0 || own.empty() || !checked(kind::source_changed)) return;
    for (const Transfer &t : own) {
        bool way = t.rows.by_way_of != nullptr;
        if (t.engine != mte || (!way && !in_ub(t.src))) continue;
        auto from = way ? static_cast<const uint8_t *>(t.rows.by_way_of) : t.src;
        uint64_t length = way ? t.rows.way_bytes : span(t.rows.rows, t.rows.length, t.rows.src_stride);
        if (p >= from + length || from >= p + bytes) continue;
        fault(kind::source_changed, at, "%s loads into UB that %s (%s:%d) may still be storing from: wait for its MTE3 event (MTE3_MTE2), or call quiet first",
              "%s 把数据读入 UB，而 %s（%s:%d）可能仍在从这段 UB 写出：应先等待 MTE3 事件（MTE3_MTE2）或调用 quiet", what, t.what,
              t.at.file != nullptr ? base_name(t.at.file) : "-", t.at.line);
    }
}

// Finishes those that match, in order, and forgets them.
void sweep(std::vector<Transfer> &list, unsigned engines, uint64_t until, int peer)
{
    if (list.empty()) return;
    size_t kept = 0;
    for (size_t i = 0; i < list.size(); i++) {
        Transfer &t = list[i];
        if ((t.engine & engines) != 0 && t.id <= until && (peer < 0 || t.peer == peer)) {
            finish(t);
            continue;
        }
        if (kept != i) list[kept] = std::move(list[i]);
        kept++;
    }
    list.resize(kept);
}

}  // namespace

void issue(Engine engine, void *dst, const void *src, Rows rows, int peer, const char *what, Site at)
{
    Block &b = current();
    b.site = at;
    if (rows.rows == 0 || rows.length == 0) return;
    world.control->moves.fetch_add(1);
    bool from_ub = in_ub(src);
    if (!from_ub) {
        for (uint64_t i = 0; i < rows.rows; i++) check_read(static_cast<const uint8_t *>(src) + i * rows.src_stride, rows.length, what, at);
        check_load(static_cast<const uint8_t *>(rows.by_way_of), rows.way_bytes, what, at);
    } else {
        rows.by_way_of = nullptr;
    }
    Transfer t;
    t.id = ++issued;
    t.engine = engine;
    t.peer = peer;
    t.dst = static_cast<uint8_t *>(dst);
    t.src = static_cast<const uint8_t *>(src);
    t.rows = rows;
    t.what = what;
    t.at = at;
    if (engine == mte) {
        t.atomic = b.atomic;
        t.atomic_type = b.atomic_type;
    }
    // MTE has read global memory into UB when the call returns; UB itself, and memory other engines read, must stay.
    bool reads_late = from_ub || engine != mte;
    if (reads_late) t.checksum = sum_rows(t.src, rows);
    if (!world.lazy) {
        move_rows(t.dst, t.src, rows, t.atomic, t.atomic_type);
    } else if (!reads_late) {
        t.staged.resize(rows.rows * rows.length);
        for (uint64_t i = 0; i < rows.rows; i++) std::memcpy(t.staged.data() + i * rows.length, t.src + i * rows.src_stride, rows.length);
    }
    t.flight = take_off(engine, t.dst, rows, peer, what, at);
    if (!world.lazy) written(dst, span(rows.rows, rows.length, rows.dst_stride));
    if ((engine & (rdma | udma)) != 0) {
        std::lock_guard<std::mutex> lock(shared_lock);
        common.push_back(std::move(t));
    } else {
        own.push_back(std::move(t));
    }
}

void move(void *dst, const void *src, Rows rows, const char *what, Site at)
{
    Block &b = current();
    b.site = at;
    world.control->moves.fetch_add(1);
    if (!in_ub(src))
        for (uint64_t i = 0; i < rows.rows; i++) check_read(static_cast<const uint8_t *>(src) + i * rows.src_stride, rows.length, what, at);
    bool to_ub = in_ub(dst);
    if (to_ub) check_load(static_cast<const uint8_t *>(dst), span(rows.rows, rows.length, rows.dst_stride), what, at);
    move_rows(static_cast<uint8_t *>(dst), static_cast<const uint8_t *>(src), rows, to_ub ? AtomicOp::none : b.atomic, b.atomic_type);
    if (!to_ub) written(dst, span(rows.rows, rows.length, rows.dst_stride));
}

uint64_t ticket() { return issued; }

void complete_for_pipe(uint64_t until, const char *event, Site at)
{
    for (const Transfer &t : own)
        if (t.engine == mte && t.id <= until && mapped(t.dst)) overtaken = {true, at.line, event, t.what, t.at};
    sweep(own, mte, until, -1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void scalar_waited() { overtaken.any = false; }

void check_signal_order(const char *what, Site at)
{
    if (!overtaken.any || !checked(kind::unordered_signal)) return;
    warn(kind::unordered_signal, at,
         "%s may overtake %s (%s:%d): WaitFlag<%s> (line %d) holds back one pipe, not the scalar unit that sends the signal; wait for MTE3_S, or call aclshmemx_mte_quiet",
         "%s 可能先于 %s（%s:%d）到达：WaitFlag<%s>（第 %d 行）只挡住一条流水，不挡发信号的标量单元；应等待 MTE3_S 或调用 aclshmemx_mte_quiet", what, overtaken.what,
         overtaken.at.file != nullptr ? base_name(overtaken.at.file) : "-", overtaken.at.line, overtaken.event, overtaken.line);
    overtaken.any = false;
}

void complete(unsigned engines, uint64_t until, int peer)
{
    if ((engines & mte) != 0) scalar_waited();
    sweep(own, engines, until, peer);
    if ((engines & (rdma | udma | sdma)) != 0) {
        std::lock_guard<std::mutex> lock(shared_lock);
        sweep(common, engines, ~0ull, peer);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void end_of_block()
{
    complete(mte);
    scalar_waited();
    if (own.empty()) return;
    std::lock_guard<std::mutex> lock(shared_lock);
    for (Transfer &t : own) common.push_back(std::move(t));
    own.clear();
}

Engine default_engine() { return static_cast<Engine>(world.default_engine); }

void complete_all_leftovers() { complete(all_engines); }

void leftover_checks()
{
    std::lock_guard<std::mutex> lock(shared_lock);
    if (common.empty() || !checked(kind::never_completed)) return;
    const Transfer &t = common.front();
    const char *name = t.engine == rdma ? "RDMA" : t.engine == udma ? "UDMA" : t.engine == sdma ? "SDMA" : "MTE";
    fault(kind::never_completed, t.at, "%s to PE %d was never waited for: no quiet of the %s engine came after it (%zu such transfers); aclshmem_quiet drains MTE alone",
          "%s（对端 PE %d）从未被等待：其后没有 %s 引擎的 quiet（共 %zu 个这样的传输）；aclshmem_quiet 只排空 MTE", t.what, t.peer, name, common.size());
}

void check_read(const void *p, uint64_t bytes, const char *what, Site at)
{
    if (bytes == 0 || !checked(kind::unordered_read)) return;
    Pending hit;
    if (!in_flight(p, bytes, &hit)) return;
    if (hit.pe == world.pe)
        fault(kind::unordered_read, at, "%s reads %llu bytes that %s of block %d (%s:%d) may still be writing: nothing has completed it",
              "%1$s 读取 %2$llu 字节，而核 %4$d 的 %3$s（%5$s:%6$d）可能仍在写入：没有任何操作使其完成", what, static_cast<unsigned long long>(bytes), hit.what, hit.block,
              hit.file, hit.line);
    fault(kind::unordered_read, at, "%s reads %llu bytes that %s of PE %d block %d (%s:%d) may still be writing: no quiet, barrier or event wait has completed it",
          "%1$s 读取 %2$llu 字节，而 PE %4$d 核 %5$d 的 %3$s（%6$s:%7$d）可能仍在写入：没有 quiet、栅栏或事件等待使其完成", what,
          static_cast<unsigned long long>(bytes), hit.what, hit.pe, hit.block, hit.file, hit.line);
}

void written(const void *p, uint64_t)
{
    int of = mapped(p) ? owner(p) : -1;
    if (of < 0) return;
    Pe &pe = world.control->pe[of];
    pe.epoch.fetch_add(1);
    if (pe.sleepers.load() != 0) wake(pe.epoch);
}

}  // namespace opdev_sim
