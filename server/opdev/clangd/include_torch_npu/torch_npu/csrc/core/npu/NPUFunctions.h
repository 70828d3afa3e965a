// Devices of torch_npu, for clangd where it is not installed: declarations, nothing to link or run.
#pragma once
#include <c10/core/Device.h>

#include "acl/acl.h"

namespace c10_npu {

c10::DeviceIndex device_count() noexcept;
c10::DeviceIndex current_device();
void set_device(c10::DeviceIndex device);

}  // namespace c10_npu
