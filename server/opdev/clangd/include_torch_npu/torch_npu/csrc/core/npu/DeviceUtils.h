// What torch_npu tells of a tensor's device, for clangd where it is not installed.
#pragma once
#include <ATen/core/Tensor.h>

namespace torch_npu {
namespace utils {

bool is_npu(const at::Tensor &tensor);
bool is_npu(const at::Device &device);

}  // namespace utils
}  // namespace torch_npu
