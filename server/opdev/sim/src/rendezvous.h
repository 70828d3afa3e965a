// How the PEs of one run find each other without leaving a name behind.
#pragma once
#include <cstdint>
#include <functional>

namespace opdev_sim {

struct Hello {
    uint32_t magic;
    int32_t pe, pes, pid;
    uint64_t heap_bytes;
};

// What became of the meeting.  The texts of the faults are session.cpp's.
enum class Met { ok, late, taken, other_size, other_heap };

struct Meeting {
    Met met = Met::ok;
    int fd = -1;          // the memory file, for the caller to map
    Hello other{};        // who did not fit
    int present = 0;      // PEs seen when time ran out
};

// Meets `hello.pes` processes under `name`; `make` creates the memory file in the one that comes first.
Meeting meet(const char *name, const Hello &hello, int timeout_seconds, const std::function<int()> &make);

}  // namespace opdev_sim
