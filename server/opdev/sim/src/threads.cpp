// The table of threads and the one way they wait.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "opdev_sim/heap.h"
#include "opdev_sim/wait.h"
#include "shared.h"

namespace opdev_sim {

namespace {

// A host thread gives its slot back when it ends; streams and blocks do so themselves.
struct OwnThread {
    Thread *thread = nullptr;
    const Control *of = nullptr;
    ~OwnThread()
    {
        if (thread != nullptr && of == world.control && of != nullptr && thread->role == Role::host) release_thread(thread);
    }
};
thread_local OwnThread own_thread;

}  // namespace

void sleep_on(Word &word, uint32_t value, int milliseconds)
{
    timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT, value, milliseconds < 0 ? nullptr : &limit, nullptr, 0);
}

void wake(Word &word) { syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0); }

SharedLock::SharedLock(Word &word) : word_(word)
{
    // 0 free, 1 taken, 2 taken and somebody sleeps.
    uint32_t seen = 0;
    if (word_.compare_exchange_strong(seen, 1)) return;
    while (word_.exchange(2) != 0) sleep_on(word_, 2, 100);
}

SharedLock::~SharedLock()
{
    if (word_.exchange(0) == 2) wake(word_);
}

Thread *claim_thread(Role role, int block, ThreadState state)
{
    for (Thread &t : mine().threads) {
        ThreadState unused = ThreadState::unused;
        if (!t.state.compare_exchange_strong(unused, ThreadState::idle)) continue;
        t.role = role;
        t.block = block;
        copy_text(t.kernel, sizeof t.kernel, "");
        set_state(&t, state);
        return &t;
    }
    fault(kind::unsupported, {}, "more than %d threads are alive in one PE of the stand-in", "模拟环境中一个 PE 同时存在的线程超过 %d 个",
          max_threads);
}

void set_state(Thread *thread, ThreadState state)
{
    // Counted before a thread runs and after it has stopped, so that the sum is never too small.
    if (state == ThreadState::running) mine().running.fetch_add(1);
    ThreadState before = thread->state.exchange(state);
    world.control->moves.fetch_add(1);
    if (before == ThreadState::running) mine().running.fetch_sub(1);
}

void release_thread(Thread *thread) { set_state(thread, ThreadState::unused); }

void adopt_thread(Thread *thread)
{
    own_thread.thread = thread;
    own_thread.of = world.control;
}

Thread *this_thread()
{
    if (own_thread.thread == nullptr || own_thread.of != world.control) adopt_thread(claim_thread(Role::host, -1, ThreadState::running));
    return own_thread.thread;
}

namespace {

void record(Thread *t, Element type, uint64_t offset, int cmp, uint64_t bits, const char *what, Site at, int team)
{
    t->type = type;
    t->offset = offset;
    t->cmp = cmp;
    t->bits = bits;
    t->team = team;
    t->line = at.line;
    copy_text(t->what, sizeof t->what, what);
    copy_text(t->file, sizeof t->file, at.file != nullptr ? base_name(at.file) : "-");
    copy_text(t->kernel, sizeof t->kernel, current().kernel);
}

// Time in which nothing happened in any PE: no wait ended or began, no transfer was made.  A slow machine is not a fault.
class Standstill {
public:
    bool too_long()
    {
        uint64_t moves = world.control->moves.load();
        if (moves != moves_) {
            moves_ = moves;
            since_ = time(nullptr);
        }
        return time(nullptr) - since_ > timeout_seconds();
    }

private:
    uint64_t moves_ = world.control->moves.load();
    time_t since_ = time(nullptr);
};

[[noreturn]] void too_long(const char *what, Site at)
{
    print_waits();
    fault(kind::timeout, at,
          "%s has waited for over %d s in which no PE got anywhere, and other code still runs: a kernel that spins on memory, or one "
          "that computes for very long (OPDEV_SIM_TIMEOUT sets the limit)",
          "%s 已等待超过 %d 秒，其间所有 PE 均无进展，而仍有代码在运行：有核在内存上空转，或单次计算过久（上限由 OPDEV_SIM_TIMEOUT 设置）", what, timeout_seconds());
}

}  // namespace

void wait_word(Word &word, int cmp, uint32_t value, const char *what, Site at, int team)
{
    if (holds(Element::u32, &word, cmp, value)) return;
    Thread *t = this_thread();
    record(t, Element::u32, offset_of(&word), cmp, value, what, at, team);
    set_state(t, ThreadState::waiting);
    look_for_deadlock();
    Standstill still;
    for (;;) {
        uint32_t seen = word.load();
        if (holds(Element::u32, &seen, cmp, value)) break;
        sleep_on(word, seen, 200);
        // Streams and hosts may wait as long as kernels run; a kernel's own waits have their limit in wait_until.
        if (t->role == Role::block && still.too_long()) too_long(what, at);
    }
    set_state(t, ThreadState::running);
}

uint64_t wait_until(Element type, const void *p, int cmp, uint64_t bits, const char *what, Site at)
{
    current().site = at;
    auto value = [&] {
        uint64_t seen = 0;
        switch (size_of(type)) {
            case 1: seen = __atomic_load_n(static_cast<const uint8_t *>(p), __ATOMIC_ACQUIRE); break;
            case 2: seen = __atomic_load_n(static_cast<const uint16_t *>(p), __ATOMIC_ACQUIRE); break;
            case 4: seen = __atomic_load_n(static_cast<const uint32_t *>(p), __ATOMIC_ACQUIRE); break;
            default: seen = __atomic_load_n(static_cast<const uint64_t *>(p), __ATOMIC_ACQUIRE);
        }
        return seen;
    };
    if (cmp < 0 || cmp > 5)
        fault(kind::unsupported, at, "%s: comparison %d is none of ACLSHMEM_CMP_*", "%s：比较方式 %d 不是 ACLSHMEM_CMP_* 之一", what, cmp);
    uint64_t seen = value();
    if (holds(type, &seen, cmp, bits)) {
        signal_waited(p, seen, true, what, at);
        return seen;
    }
    Standstill still;
    int of = mapped(p) ? owner(p) : -1;
    if (of < 0) {
        // Memory of this process alone: looked at again every millisecond, and no part of the wait graph.
        while (!holds(type, &seen, cmp, bits)) {
            timespec nap{0, 1000000};
            nanosleep(&nap, nullptr);
            seen = value();
            if (still.too_long()) too_long(what, at);
        }
        return seen;
    }
    Pe &where = world.control->pe[of];
    Thread *t = this_thread();
    record(t, type, offset_of(p), cmp, bits, what, at, -1);
    where.sleepers.fetch_add(1);
    set_state(t, ThreadState::waiting);
    look_for_deadlock();
    for (;;) {
        uint32_t epoch = where.epoch.load();
        seen = value();
        if (holds(type, &seen, cmp, bits)) break;
        // Short, because a plain store of user code tells nobody.
        sleep_on(where.epoch, epoch, 20);
        if (still.too_long()) too_long(what, at);
    }
    set_state(t, ThreadState::running);
    where.sleepers.fetch_sub(1);
    signal_waited(p, seen, false, what, at);
    return seen;
}

void polled(const void *p, Site at)
{
    thread_local const void *place = nullptr;
    thread_local uint32_t looks = 0;
    thread_local uint64_t content = 0;
    thread_local Standstill still;
    uint64_t now = *static_cast<const volatile uint8_t *>(p);
    if (p != place || now != content) {
        place = p;
        content = now;
        looks = 0;
        return;
    }
    if (++looks < 64) return;
    if (looks == 64) still = Standstill();
    timespec nap{0, looks < 512 ? 20000 : 500000};
    nanosleep(&nap, nullptr);
    if (still.too_long()) too_long("a polling loop", at);
}

}  // namespace opdev_sim
