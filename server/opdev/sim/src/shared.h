// What the PEs of one run share: the control block at the front of the mapping, and the words all waits stand on.
//
// The mapping is an anonymous memory file that the PEs hand to each other over a socket (session.cpp), so nothing of it
// outlives the processes.  Every count a thread can wait for is a 32-bit word in it or a value in a symmetric heap:
// that is what lets any PE judge whether the waits of all of them can still end (deadlock.cpp).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "opdev_sim/context.h"
#include "opdev_sim/order.h"
#include "opdev_sim/report.h"

namespace opdev_sim {

constexpr int max_pes = 64;
constexpr int max_threads = 320;   // per PE: host threads, stream workers, blocks of the running launches
constexpr int max_teams = 64;
constexpr int control_team = max_teams - 2;  // of init, malloc, free, finalize: apart from the barriers users call
constexpr int cross_flags = 16;    // flags between cores, by number
constexpr int cross_cores = 288;   // a cube core and two vector cores of each of 96 blocks
constexpr int max_launches = 16;   // kernels of one PE running at the same time (one a stream)
constexpr int max_streams = 64;
constexpr int max_flights = 2048;  // transfers pending into one PE's memory
constexpr int max_signals = 4096;  // signal words remembered per PE
constexpr uint32_t world_magic = 0x6f706473;

enum class PeState : uint32_t { absent, joined, left, exited };
enum class ThreadState : uint32_t { unused, idle, running, waiting };
enum class Role : uint32_t { host, stream, block };

using Word = std::atomic<uint32_t>;

// One thread of a PE.  The fields after `state` are written by the thread itself before it waits.
struct Thread {
    std::atomic<ThreadState> state;
    Role role;
    int32_t block;
    Element type;
    int32_t cmp;
    uint64_t offset;  // of the value waited for, from the start of the mapping
    uint64_t bits;
    int32_t team;     // of a barrier, else -1
    int32_t line;
    char what[48];
    char file[64];
    char kernel[48];
};

struct Launch {
    Word used, blocks, left, arrived, generation;
    Word raised[cross_cores * cross_flags];    // by core, then flag: how often it was set for that core
    Word gathered[cross_cores * cross_flags];  // by group of cores that set it together
};

struct Pending {
    uint32_t used;
    Engine engine;
    int32_t pe, block, peer, line;
    uint64_t id;            // of the transfer on its PE
    uint64_t begin;         // offset in the mapping, or the address for memory only the owner has
    Rows rows;              // length and dst_stride say which bytes
    bool is_private;
    char file[64];
    char what[40];
};

// What a PE knows about a word that signal calls write.
struct Signal {
    uint64_t offset;        // + 1; 0: free
    int32_t pe, block;      // last writer
    uint32_t writes;
    uint64_t value;
    uint64_t launch;        // of the last writer
    uint64_t waited;        // 1 + the launch of the owner's last wait that saw this value; reset by the next write
};

// A collective call as each PE makes it, to compare.
struct Collective {
    uint64_t kind, size, count;
    int32_t line;
    char file[64];
};

struct Team {
    Word used, arrived, generation;
    Word making, members;    // PEs still to take part in the split, members that have not destroyed it
    int32_t start, stride, size;
    Word arrivals[max_pes];  // by number in the team
};

struct Pe {
    std::atomic<PeState> state;
    int32_t pid;
    uint64_t heap_bytes;
    Word running;            // threads that may still end somebody's wait
    Word epoch;              // changes whenever the runtime writes into this PE's heap
    Word sleepers;           // threads that wait for a value in this PE's heap
    Word flights_lock, flight_count;
    uint32_t flight_top;     // one past the highest used entry
    uint64_t never_completed;
    Word signals_lock;
    Collective collective;
    Launch launches[max_launches];
    Word stream_done[max_streams];
    Thread threads[max_threads];
    Pending flights[max_flights];
    Signal signals[max_signals];
};

struct Control {
    uint32_t magic;
    int32_t pes;
    uint64_t heap_bytes, stride;
    Word joined, started;
    Word gate;               // launches that have come to the gate, of all PEs
    Word gate_open;          // set when the gate would only make everybody wait
    std::atomic<uint32_t> dying;   // 1 + PE whose fault ended the run
    std::atomic<uint64_t> moves;   // counts changes of thread states
    Team teams[max_teams];
    Pe pe[max_pes];
};

// This process's view.
struct World {
    int pe = 0;
    int pes = 1;
    int fd = -1;
    uint8_t *mapping = nullptr;
    uint64_t mapping_bytes = 0;
    uint8_t *heaps = nullptr;   // heap of PE p: heaps + p * stride
    uint64_t stride = 0;
    uint64_t heap_bytes = 0;    // what the user asked for
    Control *control = nullptr; // before init and after finalize one of this process alone
    bool session = false;       // between aclshmemx_init_attr and aclshmem_finalize
    bool lazy = false;
    bool gate = true;
    unsigned default_engine = mte;
    uint64_t instance = 0;      // the id init was given
};
extern World world;

inline Pe &mine() { return world.control->pe[world.pe]; }
inline uint64_t offset_of(const void *p) { return static_cast<uint64_t>(static_cast<const uint8_t *>(p) - world.mapping); }
inline bool mapped(const void *p)
{
    auto a = static_cast<const uint8_t *>(p);
    return world.mapping != nullptr && a >= world.mapping && a < world.mapping + world.mapping_bytes;
}

void copy_text(char *to, size_t room, const char *from);
// Only the file's name: what a line of a report can hold.
const char *base_name(const char *path);

// Futexes shared between processes.
void sleep_on(Word &word, uint32_t value, int milliseconds);
void wake(Word &word);

// A lock in shared memory; a PE that dies holding it ends the run anyway.
class SharedLock {
public:
    explicit SharedLock(Word &word);
    ~SharedLock();
    SharedLock(const SharedLock &) = delete;
    SharedLock &operator=(const SharedLock &) = delete;

private:
    Word &word_;
};

// threads.cpp: the slot of the calling thread, made on its first call.
Thread *claim_thread(Role role, int block, ThreadState state);
void release_thread(Thread *thread);
void set_state(Thread *thread, ThreadState state);
void adopt_thread(Thread *thread);  // makes it the calling thread's
Thread *this_thread();
// Waits for a word of the control block.
void wait_word(Word &word, int cmp, uint32_t value, const char *what, Site at, int team = -1);

// deadlock.cpp
void look_for_deadlock();
void print_waits();
// report.cpp: the next fault of this thread is told as that PE's and block's.
void speak_for(int pe, int block);
// session.cpp
bool join_session(const char *name, int pe, int pes, uint64_t heap_bytes, int timeout_seconds);
void leave_session();
bool alive(int pe);
void start_monitor();
void stop_monitor();
// heap.cpp
void reset_heap();
void heap_end_checks();
void heap_canaries(const char *when, Site at);
const char *describe(uint64_t offset, char *room, size_t size);  // "alloc#2+64 of PE 1 (allocated at main.cpp:30)"
// order.cpp
void complete_all_leftovers();
void end_of_block();
bool pending_over(uint64_t offset, uint64_t bytes, char *room, size_t size);
// signals.cpp
void signal_written(const void *p, uint64_t value, bool set, Site at);
// `at_once`: the wait did not have to wait.
void signal_waited(const void *p, uint64_t value, bool at_once, const char *what, Site at);
bool last_writer(uint64_t offset, int *pe, int *block, uint64_t *value);
void leftover_checks();
// launch.cpp
void drain_streams();
void reset_streams();
void reset_launches();
Launch *running_launch();  // of the calling block; nullptr on the host
// crosscore.cpp
void reset_cross_flags(Launch &launch);
bool describe_cross_flag(const Launch &launch, uint64_t offset, char *room, size_t size, bool zh);
// prof.cpp
void reset_profile();
int timeout_seconds();
const char *environment(const char *name, const char *otherwise);
[[noreturn]] void die(int status);

}  // namespace opdev_sim
