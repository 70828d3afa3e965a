// The AscendCL host calls.  Device memory is host memory with known bounds; streams are threads.
#include "acl/acl.h"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "allocations.h"
#include "opdev_sim/heap.h"
#include "opdev_sim/order.h"
#include "shared.h"
#include "stream.h"

using opdev_sim::Site;
using opdev_sim::stream_of;

namespace {

std::atomic<int32_t> device{0};

struct Event {
    opdev_sim::Stream *stream = nullptr;
    uint32_t mark = 0;
    std::shared_ptr<std::atomic<int64_t>> microseconds = std::make_shared<std::atomic<int64_t>>(0);
};

// Bounds of whichever side is known to be device memory.  UB never is: kernels have it, not the host.
void check_copy(void *dst, size_t room, const void *src, size_t count, const char *what, Site at)
{
    (void)room;
    opdev_sim::check_gm(dst, count, what, at);
    if (src == nullptr) return;
    opdev_sim::check_gm(src, count, what, at);
    opdev_sim::check_read(src, count, what, at);
}

}  // namespace

aclError aclInit(const char *)
{
    if (getenv("OPDEV_SIM_QUIET") == nullptr)
        fprintf(stderr, "[SIM] backend=sim text=CPU stand-in: no NPU is used, times are not device times / 模拟环境：未使用 NPU，耗时不代表真实设备\n");
    return ACL_SUCCESS;
}
aclError aclFinalize() { return ACL_SUCCESS; }
const char *aclGetRecentErrMsg() { return ""; }
aclError aclrtSetDevice(int32_t d)
{
    if (d < 0) return ACL_ERROR_RT_PARAM_INVALID;
    device.store(d);
    return ACL_SUCCESS;
}
aclError aclrtResetDevice(int32_t)
{
    opdev_sim::drain_streams();
    return ACL_SUCCESS;
}
aclError aclrtGetDevice(int32_t *d)
{
    *d = device.load();
    return ACL_SUCCESS;
}
aclError aclrtGetDeviceCount(uint32_t *count)
{
    *count = opdev_sim::max_pes;
    return ACL_SUCCESS;
}
const char *aclrtGetSocName() { return opdev_sim::soc_name(); }
aclError aclrtCreateContext(aclrtContext *context, int32_t d)
{
    *context = &device;
    return aclrtSetDevice(d);
}
aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtGetCurrentContext(aclrtContext *context)
{
    *context = &device;
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    *stream = new opdev_sim::Stream;
    return ACL_SUCCESS;
}
aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t) { return aclrtCreateStream(stream); }
aclError aclrtDestroyStream(aclrtStream stream)
{
    if (stream == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
    stream_of(stream).synchronize("aclrtDestroyStream", {});
    delete static_cast<opdev_sim::Stream *>(stream);
    return ACL_SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream stream, Site at)
{
    stream_of(stream).synchronize("aclrtSynchronizeStream", at);
    return ACL_SUCCESS;
}
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t, Site at) { return aclrtSynchronizeStream(stream, at); }
aclError aclrtSynchronizeDevice(Site)
{
    opdev_sim::drain_streams();
    return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    *event = new Event;
    return ACL_SUCCESS;
}
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) { return aclrtCreateEvent(event); }
aclError aclrtDestroyEvent(aclrtEvent event)
{
    delete static_cast<Event *>(event);
    return ACL_SUCCESS;
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    auto e = static_cast<Event *>(event);
    auto time = e->microseconds;
    e->stream = &stream_of(stream);
    e->stream->push([time] {
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC, &t);
        time->store(t.tv_sec * 1000000LL + t.tv_nsec / 1000);
    });
    e->mark = e->stream->mark();
    return ACL_SUCCESS;
}
aclError aclrtSynchronizeEvent(aclrtEvent event, Site at)
{
    auto e = static_cast<Event *>(event);
    if (e->stream != nullptr) e->stream->wait_for(e->mark, "aclrtSynchronizeEvent", at);
    return ACL_SUCCESS;
}
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, Site at)
{
    auto e = static_cast<Event *>(event);
    opdev_sim::Stream *of = e->stream;
    uint32_t mark = e->mark;
    if (of != nullptr) stream_of(stream).push([=] { of->wait_for(mark, "aclrtStreamWaitEvent", at); });
    return ACL_SUCCESS;
}
aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end)
{
    int64_t us = static_cast<Event *>(end)->microseconds->load() - static_cast<Event *>(start)->microseconds->load();
    *milliseconds = static_cast<float>(us) / 1000.0f;
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void **p, size_t size, aclrtMemMallocPolicy, Site at)
{
    if (p == nullptr || size == 0) return ACL_ERROR_RT_PARAM_INVALID;
    *p = opdev_sim::device_allocate(size, at);
    return *p != nullptr ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}
aclError aclrtFree(void *p, Site at) { return opdev_sim::device_free(p, at) ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID; }
aclError aclrtMallocHost(void **p, size_t size)
{
    if (p == nullptr || size == 0) return ACL_ERROR_RT_PARAM_INVALID;
    *p = malloc(size);
    return *p != nullptr ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}
aclError aclrtFreeHost(void *p)
{
    free(p);
    return ACL_SUCCESS;
}
aclError aclrtMemcpy(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind, Site at)
{
    if (dst == nullptr || src == nullptr || count > room) return ACL_ERROR_RT_PARAM_INVALID;
    check_copy(dst, room, src, count, "aclrtMemcpy", at);
    memmove(dst, src, count);
    opdev_sim::written(dst, count);
    return ACL_SUCCESS;
}
aclError aclrtMemcpyAsync(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind, aclrtStream stream, Site at)
{
    if (dst == nullptr || src == nullptr || count > room) return ACL_ERROR_RT_PARAM_INVALID;
    stream_of(stream).push([=] {
        check_copy(dst, room, src, count, "aclrtMemcpyAsync", at);
        memmove(dst, src, count);
        opdev_sim::written(dst, count);
    });
    return ACL_SUCCESS;
}
aclError aclrtMemset(void *p, size_t room, int32_t value, size_t count, Site at)
{
    if (p == nullptr || count > room) return ACL_ERROR_RT_PARAM_INVALID;
    check_copy(p, room, nullptr, count, "aclrtMemset", at);
    memset(p, value, count);
    opdev_sim::written(p, count);
    return ACL_SUCCESS;
}
aclError aclrtMemsetAsync(void *p, size_t room, int32_t value, size_t count, aclrtStream stream, Site at)
{
    if (p == nullptr || count > room) return ACL_ERROR_RT_PARAM_INVALID;
    stream_of(stream).push([=] {
        check_copy(p, room, nullptr, count, "aclrtMemsetAsync", at);
        memset(p, value, count);
        opdev_sim::written(p, count);
    });
    return ACL_SUCCESS;
}
