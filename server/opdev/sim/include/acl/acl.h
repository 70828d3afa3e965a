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

/// 初始化 AscendCL，进程内一次。
/// Starts AscendCL, once a process.
aclError aclInit(const char *config);
/// 结束 AscendCL。
/// Ends AscendCL.
aclError aclFinalize();
const char *aclGetRecentErrMsg();
/// 选定本线程使用的设备。
/// Makes a device the one of this thread.
aclError aclrtSetDevice(int32_t device);
/// 释放设备上的资源。
/// Gives back what the device holds.
aclError aclrtResetDevice(int32_t device);
aclError aclrtGetDevice(int32_t *device);
aclError aclrtGetDeviceCount(uint32_t *count);
const char *aclrtGetSocName();
aclError aclrtCreateContext(aclrtContext *context, int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext *context);
/// 创建流；其中的任务按提交顺序执行。
/// Makes a stream; its tasks run in the order they were queued.
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flags);
/// 销毁流。
/// Ends a stream.
aclError aclrtDestroyStream(aclrtStream stream);
/// 等待流中所有任务完成；核函数的错误在这里返回。
/// Waits until the stream is done; a kernel's error is returned here.
aclError aclrtSynchronizeStream(aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds, opdev_sim::Site at = opdev_sim::here());
/// 等待设备上所有流完成。
/// Waits until every stream of the device is done.
aclError aclrtSynchronizeDevice(opdev_sim::Site at = opdev_sim::here());
/// 创建事件。
/// Makes an event.
aclError aclrtCreateEvent(aclrtEvent *event);
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
/// 在流中记录事件。
/// Records the event on the stream.
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtSynchronizeEvent(aclrtEvent event, opdev_sim::Site at = opdev_sim::here());
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, opdev_sim::Site at = opdev_sim::here());
// Host time, not device time.
/// 两个事件之间的毫秒数；模拟环境里是主机时间，不代表设备。
/// Milliseconds between two events; on the stand-in the host's time, not a device's.
aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end);
/// 在设备上分配 size 字节；不是对称内存，远端访问不到。
/// Allocates size bytes on the device: no symmetric memory, other PEs cannot reach it.
aclError aclrtMalloc(void **p, size_t size, aclrtMemMallocPolicy policy, opdev_sim::Site at = opdev_sim::here());
/// 释放 aclrtMalloc 的内存。
/// Frees what aclrtMalloc gave.
aclError aclrtFree(void *p, opdev_sim::Site at = opdev_sim::here());
/// 分配锁页的主机内存。
/// Allocates pinned host memory.
aclError aclrtMallocHost(void **p, size_t size);
/// 释放 aclrtMallocHost 的内存。
/// Frees what aclrtMallocHost gave.
aclError aclrtFreeHost(void *p);
/// 同步复制 count 字节；room 是 dst 的大小。
/// Copies count bytes and waits; room is the size of dst.
aclError aclrtMemcpy(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind kind, opdev_sim::Site at = opdev_sim::here());
/// 在流中复制 count 字节。
/// Queues a copy of count bytes on the stream.
aclError aclrtMemcpyAsync(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream,
                          opdev_sim::Site at = opdev_sim::here());
/// 把 count 字节置为 value。
/// Sets count bytes to value.
aclError aclrtMemset(void *p, size_t room, int32_t value, size_t count, opdev_sim::Site at = opdev_sim::here());
aclError aclrtMemsetAsync(void *p, size_t room, int32_t value, size_t count, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
