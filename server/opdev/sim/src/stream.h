// A stream: tasks done one after another by one thread of its own.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "opdev_sim/report.h"
#include "shared.h"

namespace opdev_sim {

class Stream {
public:
    Stream();
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    void push(std::function<void()> task);
    // Returns when everything pushed so far is done.
    void synchronize(const char *what, Site at);
    // A point in the stream's work, and the wait for it.
    uint32_t mark();
    void wait_for(uint32_t mark, const char *what, Site at);
    // After the control block has changed under it; it must be drained.
    void reset();

private:
    void run();
    Word &done() { return mine().stream_done[slot_]; }

    int slot_ = -1;
    uint32_t pushed_ = 0;
    std::mutex lock_;
    std::condition_variable more_;
    std::deque<std::function<void()>> tasks_;
    Thread *thread_ = nullptr;  // in the table while there is work
    bool stop_ = false;
    std::thread worker_;
};

// nullptr names the default stream.
Stream &stream_of(void *handle);

}  // namespace opdev_sim
