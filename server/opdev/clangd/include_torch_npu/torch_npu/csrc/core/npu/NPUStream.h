// Streams of torch_npu, for clangd where it is not installed: declarations, nothing to link or run.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "acl/acl.h"

namespace c10_npu {

class NPUStream {
public:
    /// The stream as AscendCL takes it; with need_empty what Torch has queued is handed to the device first.
    aclrtStream stream(const bool need_empty = true) const;
    c10::DeviceIndex device_index() const;
    c10::Device device() const;
    c10::StreamId id() const;
    /// Waits until the stream is done.
    void synchronize() const;
    bool query() const;
    operator aclrtStream() const;
    c10::Stream unwrap() const;
};

/// The stream Torch queues on now.
NPUStream getCurrentNPUStream(c10::DeviceIndex device_index = -1);
NPUStream getDefaultNPUStream(c10::DeviceIndex device_index = -1);
void setCurrentNPUStream(NPUStream stream);

}  // namespace c10_npu
