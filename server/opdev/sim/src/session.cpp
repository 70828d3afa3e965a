// The life of a run in one process: meeting the other PEs, the shared mapping, the watch over the others, the end.
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "opdev_sim/wait.h"
#include "rendezvous.h"
#include "shared.h"

namespace opdev_sim {

World world;

namespace {

std::thread monitor;
Word monitor_stop{0};

uint64_t whole_pages(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// The kernel drops a process's record locks when it dies, in whatever way and before anybody has waited for it: that is
// how the others know.  Byte p of the memory file is PE p's.
flock lock_of(int pe)
{
    flock l{};
    l.l_type = F_WRLCK;
    l.l_whence = SEEK_SET;
    l.l_start = pe;
    l.l_len = 1;
    return l;
}

int make_memory(uint64_t bytes)
{
    int fd = memfd_create("opdev-sim", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0)
        fault(kind::unsupported, {}, "no shared memory of %llu bytes: %s", "无法取得 %llu 字节共享内存：%s",
              static_cast<unsigned long long>(bytes), strerror(errno));
    return fd;
}

[[noreturn]] void refuse(const Meeting &meeting, const char *name, int pe, int pes, uint64_t heap_bytes, int seconds)
{
    const Hello &o = meeting.other;
    world.pe = pe;  // whose lines these are
    int present = meeting.present < 1 ? 1 : meeting.present;
    switch (meeting.met) {
        case Met::taken:
            fault(kind::endpoint, {}, "PE %d is already there (process %d) at endpoint %s: two runs use one endpoint; give each its own OPDEV_SIM_RUN or port",
                  "PE %d 已存在（进程 %d），端点 %s：两次运行共用了同一端点，请分别设置 OPDEV_SIM_RUN 或端口", pe, o.pid, name);
        case Met::other_size:
            fault(kind::endpoint, {}, "PE %d counts %d PEs, PE %d counts %d: all PEs must pass the same n_pes (or two runs share endpoint %s)",
                  "PE %d 的 n_pes 为 %d，PE %d 的 n_pes 为 %d：各 PE 必须一致（或两次运行共用了端点 %s）", pe, pes, o.pe, o.pes, name);
        case Met::other_heap:
            fault(kind::allocation_order, {}, "PE %d asks for a symmetric heap of %llu bytes, PE %d for %llu: local_mem_size must be the same on all PEs",
                  "PE %d 的对称堆为 %llu 字节，PE %d 为 %llu 字节：各 PE 的 local_mem_size 必须相同", pe,
                  static_cast<unsigned long long>(heap_bytes), o.pe, static_cast<unsigned long long>(o.heap_bytes));
        default:
            fault(kind::timeout, {}, "aclshmemx_init_attr: not all of the %d PEs came to endpoint %s within %d s (%d did)",
                  "aclshmemx_init_attr：%d 个 PE 未在端点 %s 到齐（限 %d 秒，已到 %d 个）", pes, name, seconds, present);
    }
}

void watch()
{
    timespec nap{0, 20000000};
    for (int round = 0; monitor_stop.load() == 0; round++) {
        nanosleep(&nap, nullptr);
        Control &c = *world.control;
        uint32_t dying = c.dying.load();
        if (dying != 0 && dying != static_cast<uint32_t>(world.pe) + 1) {
            fprintf(stderr, "[SIM] ended pe=%d by=%u\n", world.pe, dying - 1);
            die(fault_status);
        }
        if (round % 3 != 0) continue;
        for (int pe = 0; pe < world.pes; pe++) {
            if (pe == world.pe || c.pe[pe].state.load() != PeState::joined || alive(pe)) continue;
            // It may have left properly between the two looks; and whoever ended it after a fault has said so.
            if (c.pe[pe].state.load() != PeState::joined || c.dying.load() != 0) continue;
            fault(kind::peer_died, {}, "the process of PE %d (pid %d) ended in the middle of the run, without aclshmem_finalize",
                  "PE %d 的进程（pid %d）在运行途中结束，没有调用 aclshmem_finalize", pe, c.pe[pe].pid);
        }
        look_for_deadlock();
    }
}

// The world of a process before aclshmemx_init_attr and after aclshmem_finalize: kernels run in it, too.
Control *alone()
{
    static Control *control = [] {
        void *m = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (m == MAP_FAILED) fault(kind::unsupported, {}, "no memory for the runtime", "运行时内存不足");
        auto c = static_cast<Control *>(m);
        c->pes = 1;
        c->joined.store(1);
        c->pe[0].state.store(PeState::joined);
        return c;
    }();
    return control;
}

__attribute__((constructor)) void live_alone()
{
    world.control = alone();
    world.mapping = reinterpret_cast<uint8_t *>(world.control);
    world.mapping_bytes = sizeof(Control);
    world.heaps = world.mapping + world.mapping_bytes;
    world.stride = 1;
    world.heap_bytes = 0;
    world.pe = 0;
    world.pes = 1;
    world.fd = -1;
    world.session = false;
    world.instance = 0;
    world.lazy = strcmp(environment("OPDEV_SIM_NBI", "now"), "lazy") == 0;
    world.gate = strcmp(environment("OPDEV_SIM_GATE", "on"), "off") != 0;
}

// A program that ends by exit or by leaving main without aclshmem_finalize.
void at_exit()
{
    if (!world.session) return;
    mine().state.store(PeState::exited);
    stop_monitor();
}

}  // namespace

bool alive(int pe)
{
    flock l = lock_of(pe);
    return fcntl(world.fd, F_GETLK, &l) != 0 || l.l_type != F_UNLCK;
}

bool join_session(const char *name, int pe, int pes, uint64_t heap_bytes, int seconds)
{
    uint64_t page = 2u << 20;
    uint64_t control_bytes = whole_pages(sizeof(Control), page);
    // Twice the heap and some more of address space: allocations have red zones, and only touched pages cost memory.
    uint64_t stride = whole_pages(2 * heap_bytes + (64u << 20), page);
    uint64_t bytes = control_bytes + stride * static_cast<uint64_t>(pes);
    Hello hello{world_magic, pe, pes, getpid(), heap_bytes};
    Meeting meeting = meet(name, hello, seconds, [&] { return make_memory(bytes); });
    if (meeting.met != Met::ok) refuse(meeting, name, pe, pes, heap_bytes, seconds);
    void *m = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, meeting.fd, 0);
    if (m == MAP_FAILED) return false;
    drain_streams();
    release_thread(this_thread());
    world.pe = pe;
    world.pes = pes;
    world.fd = meeting.fd;
    world.mapping = static_cast<uint8_t *>(m);
    world.mapping_bytes = bytes;
    world.heaps = world.mapping + control_bytes;
    world.stride = stride;
    world.heap_bytes = heap_bytes;
    world.control = reinterpret_cast<Control *>(m);
    world.session = true;
    reset_streams();
    reset_launches();
    flock l = lock_of(pe);
    fcntl(world.fd, F_SETLK, &l);
    Pe &me = mine();
    me.pid = getpid();
    me.heap_bytes = heap_bytes;
    if (pe == 0)
        for (int team : {0, control_team}) {
            Team &all = world.control->teams[team];
            all.size = pes;
            all.start = 0;
            all.stride = 1;
            all.used.store(1);
        }
    me.state.store(PeState::joined);
    this_thread();
    reset_heap();
    reset_profile();
    world.control->joined.fetch_add(1);
    wake(world.control->joined);
    time_t start = time(nullptr);
    for (uint32_t n; (n = world.control->joined.load()) < static_cast<uint32_t>(pes);) {
        sleep_on(world.control->joined, n, 100);
        if (time(nullptr) - start > seconds) refuse({Met::late, -1, {}, static_cast<int>(n)}, name, pe, pes, heap_bytes, seconds);
    }
    static bool registered = atexit(at_exit) == 0;
    (void)registered;
    start_monitor();
    return true;
}

void start_monitor()
{
    monitor_stop.store(0);
    monitor = std::thread(watch);
}

void stop_monitor()
{
    monitor_stop.store(1);
    if (monitor.joinable()) monitor.join();
}

void leave_session()
{
    stop_monitor();
    mine().state.store(PeState::left);
    release_thread(this_thread());
    adopt_thread(nullptr);
    munmap(world.mapping, world.mapping_bytes);
    close(world.fd);
    live_alone();
    reset_streams();
    reset_launches();
}

}  // namespace opdev_sim
