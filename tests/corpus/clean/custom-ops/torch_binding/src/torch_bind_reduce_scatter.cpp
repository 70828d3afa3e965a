// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <torch/extension.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include "reduce_scatter_kernel.h"
#include "shmem.h"
#include "torch_register.h"

namespace ShmemOps {

// 不用信号：两次 barrier 就是全部的同步，所以没有轮次要记。
class ReduceScatter : public torch::jit::CustomClassHolder {
public:
    ReduceScatter() : fftsAddr_(util_get_ffts_config()) {}

    std::string get_name()
    {
        return "ReduceScatter";
    }

    // output 在对称内存里；input 是 n_pes 段，每段与 output 等长。
    void compute(const at::Tensor &output, const at::Tensor &input)
    {
        TORCH_CHECK(input.scalar_type() == output.scalar_type(), "input 与 output 的 dtype 不同");
        TORCH_CHECK(input.device() == output.device(), "input 与 output 不在同一个设备上");
        TORCH_CHECK(input.numel() == aclshmem_n_pes() * output.numel(), "input 的元素数不是 n_pes × output");
        TORCH_CHECK(output.is_contiguous(), "output 是 kernel 直接累加的对称内存，必须连续");
        const at::Tensor source = input.contiguous();
        launch_reduce_scatter(BLOCK_DIM, c10_npu::getCurrentNPUStream().stream(true), fftsAddr_,
                              static_cast<uint8_t *>(source.data_ptr()), static_cast<uint8_t *>(output.data_ptr()),
                              output.numel(), type_of(source.scalar_type()));
    }

private:
    static ReduceType type_of(at::ScalarType type)
    {
        switch (type) {
            case at::kHalf:
                return ReduceType::FLOAT16;
            case at::kFloat:
                return ReduceType::FLOAT32;
            case at::kInt:
                return ReduceType::INT32;
            default:
                TORCH_CHECK(false, "reduce_scatter 不支持这种 dtype");
        }
    }

    static constexpr uint32_t BLOCK_DIM = 24;
    uint64_t fftsAddr_;
};

}  // namespace ShmemOps

REGISTER_SHMEM_OPS_CLASS(ReduceScatter, compute, get_name);
