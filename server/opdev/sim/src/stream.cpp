// See stream.h.
#include "stream.h"

#include <set>

namespace opdev_sim {

namespace {

std::mutex registry_lock;
std::set<Stream *> registry;
bool slots[max_streams];

}  // namespace

Stream::Stream()
{
    std::lock_guard<std::mutex> lock(registry_lock);
    for (int i = 0; i < max_streams && slot_ < 0; i++)
        if (!slots[i]) slot_ = i;
    if (slot_ < 0)
        fault(kind::unsupported, {}, "more than %d streams in one process", "一个进程内的流超过 %d 个", max_streams);
    slots[slot_] = true;
    done().store(0);
    registry.insert(this);
    worker_ = std::thread([this] { run(); });
}

Stream::~Stream()
{
    {
        std::lock_guard<std::mutex> lock(lock_);
        stop_ = true;
    }
    more_.notify_one();
    worker_.join();
    std::lock_guard<std::mutex> lock(registry_lock);
    registry.erase(this);
    slots[slot_] = false;
}

void Stream::push(std::function<void()> task)
{
    {
        std::lock_guard<std::mutex> lock(lock_);
        // Claimed by the one who pushes, so that there is no moment in which the work is nobody's.
        if (thread_ == nullptr) thread_ = claim_thread(Role::stream, -1, ThreadState::running);
        tasks_.push_back(std::move(task));
        pushed_++;
    }
    more_.notify_one();
}

void Stream::run()
{
    std::unique_lock<std::mutex> lock(lock_);
    for (;;) {
        more_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        std::function<void()> task = std::move(tasks_.front());
        tasks_.pop_front();
        adopt_thread(thread_);
        lock.unlock();
        task();
        lock.lock();
        if (tasks_.empty()) {
            Thread *t = thread_;
            thread_ = nullptr;
            adopt_thread(nullptr);
            done().fetch_add(1);
            wake(done());
            release_thread(t);
        } else {
            done().fetch_add(1);
            wake(done());
        }
    }
}

uint32_t Stream::mark()
{
    std::lock_guard<std::mutex> lock(lock_);
    return pushed_;
}

void Stream::wait_for(uint32_t mark, const char *what, Site at) { wait_word(done(), 3 /* GE */, mark, what, at); }

void Stream::synchronize(const char *what, Site at) { wait_for(mark(), what, at); }

void Stream::reset()
{
    std::lock_guard<std::mutex> lock(lock_);
    pushed_ = 0;
    done().store(0);
}

Stream &stream_of(void *handle)
{
    static auto *by_default = new Stream;  // never destroyed: its thread may outlive main's statics
    return handle != nullptr ? *static_cast<Stream *>(handle) : *by_default;
}

void drain_streams()
{
    std::lock_guard<std::mutex> lock(registry_lock);
    for (Stream *s : registry) s->synchronize("aclrtSynchronizeDevice", {});
}

void reset_streams()
{
    std::lock_guard<std::mutex> lock(registry_lock);
    for (Stream *s : registry) s->reset();
}

}  // namespace opdev_sim
