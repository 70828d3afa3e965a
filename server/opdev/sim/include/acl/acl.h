// The AscendCL host calls operators use, on the CPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "opdev_sim/report.h"

typedef int aclError;
typedef void *aclrtStream;
typedef void *aclrtContext;
typedef void *aclrtEvent;
enum {
    ACL_SUCCESS = 0, ACL_ERROR_NONE = 0, ACL_ERROR_INVALID_PARAM = 100000, ACL_ERROR_UNINITIALIZE = 100001, ACL_ERROR_REPEAT_INITIALIZE = 100002,
    ACL_ERROR_BAD_ALLOC = 200000, ACL_ERROR_RT_PARAM_INVALID = 107000, ACL_ERROR_RT_MEMORY_ALLOCATION = 207001
};
enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_FIRST_P2P, ACL_MEM_MALLOC_HUGE_ONLY_P2P,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P
};
enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT
};

aclError aclInit(const char *config);
aclError aclFinalize();
const char *aclGetRecentErrMsg();
aclError aclrtSetDevice(int32_t device);
aclError aclrtResetDevice(int32_t device);
aclError aclrtGetDevice(int32_t *device);
aclError aclrtGetDeviceCount(uint32_t *count);
const char *aclrtGetSocName();
aclError aclrtCreateContext(aclrtContext *context, int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext *context);
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flags);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds, opdev_sim::Site at = opdev_sim::here());
aclError aclrtSynchronizeDevice(opdev_sim::Site at = opdev_sim::here());
aclError aclrtCreateEvent(aclrtEvent *event);
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtSynchronizeEvent(aclrtEvent event, opdev_sim::Site at = opdev_sim::here());
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, opdev_sim::Site at = opdev_sim::here());
// Host time, not device time.
aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end);
aclError aclrtMalloc(void **p, size_t size, aclrtMemMallocPolicy policy, opdev_sim::Site at = opdev_sim::here());
aclError aclrtFree(void *p, opdev_sim::Site at = opdev_sim::here());
aclError aclrtMallocHost(void **p, size_t size);
aclError aclrtFreeHost(void *p);
aclError aclrtMemcpy(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind kind, opdev_sim::Site at = opdev_sim::here());
aclError aclrtMemcpyAsync(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream,
                          opdev_sim::Site at = opdev_sim::here());
aclError aclrtMemset(void *p, size_t room, int32_t value, size_t count, opdev_sim::Site at = opdev_sim::here());
aclError aclrtMemsetAsync(void *p, size_t room, int32_t value, size_t count, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
