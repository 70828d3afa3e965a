// Tensors over memory of the caller's, as torch_npu has them, for clangd where it is not installed.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

namespace at_npu {
namespace native {

/// A tensor over device memory the caller keeps: nothing is copied, nothing is freed.
at::Tensor from_blob(void *data, at::IntArrayRef sizes, const at::TensorOptions &options = {},
                     const std::optional<at::Device> target_device = std::nullopt);
at::Tensor from_blob(void *data, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions &options = {},
                     const std::optional<at::Device> target_device = std::nullopt);
at::Tensor from_blob(void *data, at::IntArrayRef sizes, const std::function<void(void *)> &deleter,
                     const at::TensorOptions &options = {}, const std::optional<at::Device> target_device = std::nullopt);

}  // namespace native
}  // namespace at_npu
