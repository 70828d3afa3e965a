// Storage formats of torch_npu, for clangd where it is not installed.
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace at_npu {
namespace native {

/// The number of the format a tensor is stored in (ACL_FORMAT_…).
int64_t get_npu_format(const at::Tensor &tensor);
std::vector<int64_t> get_npu_storage_sizes(const at::Tensor &tensor);

}  // namespace native
}  // namespace at_npu
