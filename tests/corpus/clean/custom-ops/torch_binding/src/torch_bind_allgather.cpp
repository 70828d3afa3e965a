// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <torch/extension.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include "allgather_kernel.h"
#include "shmem.h"
#include "torch_register.h"

namespace ShmemOps {

class Allgather : public torch::jit::CustomClassHolder {
public:
    Allgather() : fftsAddr_(util_get_ffts_config())
    {
        const size_t bytes = allgather_flag_bytes(aclshmem_n_pes(), BLOCK_DIM);
        flags_ = aclshmem_malloc(bytes);
        TORCH_CHECK(flags_ != nullptr, "信号区申请失败：", bytes, " 字节");
        TORCH_CHECK(aclrtMemset(flags_, bytes, 0, bytes) == 0, "信号区清零失败");
        aclshmem_barrier_all();
    }

    ~Allgather() override
    {
        aclshmem_free(flags_);
    }

    std::string get_name()
    {
        return "Allgather";
    }

    // output 在对称内存里，长度是 n_pes × input。
    void compute(const at::Tensor &output, const at::Tensor &input)
    {
        const int64_t n_pes = aclshmem_n_pes();
        TORCH_CHECK(input.scalar_type() == output.scalar_type(), "input 与 output 的 dtype 不同");
        TORCH_CHECK(input.element_size() == 2 || input.element_size() == 4, "只支持 16 位与 32 位的 dtype");
        TORCH_CHECK(input.device() == output.device(), "input 与 output 不在同一个设备上");
        TORCH_CHECK(output.numel() == n_pes * input.numel(), "output 的元素数不是 n_pes × input");
        TORCH_CHECK(output.is_contiguous(), "output 是 kernel 直接写的对称内存，必须连续");
        const at::Tensor source = input.contiguous();
        ++count_;
        launch_allgather(BLOCK_DIM, c10_npu::getCurrentNPUStream().stream(true), fftsAddr_,
                         static_cast<uint8_t *>(source.data_ptr()), static_cast<uint8_t *>(output.data_ptr()),
                         static_cast<uint8_t *>(flags_), source.numel(),
                         static_cast<int32_t>(source.element_size()), count_);
    }

private:
    static constexpr uint32_t BLOCK_DIM = 16;
    uint64_t fftsAddr_;
    int32_t count_ = 0;
    void *flags_ = nullptr;
};

}  // namespace ShmemOps

REGISTER_SHMEM_OPS_CLASS(Allgather, compute, get_name);
