// SPDX-License-Identifier: Apache-2.0
#include <string>

@% if in_tree %@
#include <torch/custom_class.h>
@% endif %@
#include <torch/extension.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

@% if in_tree %@
#include "@{ op }@/src/@{ op }@_kernel.h"
@% else %@
#include "@{ op }@_kernel.h"
@% endif %@
#include "shmem.h"
#include "torch_register.h"

namespace ShmemOps {

@% if not has_flags %@
// 不用信号：每次启动里的两次 barrier 就是全部的同步，所以没有轮次要记。
@% endif %@
class @{ Op }@ : public torch::jit::CustomClassHolder {
public:
@% if has_flags %@
    @{ Op }@() : fftsAddr_(util_get_ffts_config())
    {
        const size_t bytes = @{ op }@_flag_bytes(aclshmem_n_pes(), BLOCK_DIM);
        flags_ = aclshmem_malloc(bytes);
        TORCH_CHECK(flags_ != nullptr, "信号区申请失败：", bytes, " 字节");
        TORCH_CHECK(aclrtMemset(flags_, bytes, 0, bytes) == 0, "信号区清零失败");
        aclshmem_barrier_all();
    }

    ~@{ Op }@() override
    {
        aclshmem_free(flags_);
    }
@% else %@
    @{ Op }@() : fftsAddr_(util_get_ffts_config()) {}
@% endif %@

    std::string get_name()
    {
        return "@{ Op }@";
    }

    // output 在对称内存里；@{ torch_note }@。
    void compute(const at::Tensor &output, const at::Tensor &input@{ ', const at::Tensor &plan' if has_plan }@@{ ', int64_t root' if kind == 'broadcast' }@)
    {
@% if kind != 'custom' and kind != 'broadcast' and kind != 'put-get' %@
        const int64_t n_pes = aclshmem_n_pes();
@% endif %@
        TORCH_CHECK(input.scalar_type() == output.scalar_type(), "input 与 output 的 dtype 不同");
@% if not reduces %@
        const int64_t width = input.element_size();
        TORCH_CHECK(@{ widths | map('prefix', 'width == ') | join(' || ') }@, "不支持每个元素 ", width, " 字节的 dtype");
@% endif %@
        TORCH_CHECK(input.device() == output.device(), "input 与 output 不在同一个设备上");
        TORCH_CHECK(@{ torch_sizes }@, "input 与 output 的元素数不符");
        TORCH_CHECK(output.is_contiguous(), "output 是 kernel 直接写的对称内存，必须连续");
@% if has_plan %@
        TORCH_CHECK(plan.scalar_type() == at::kLong && plan.numel() == n_pes * 4, "plan 须是 [n_pes, 4] 的 int64");
        TORCH_CHECK(plan.device() == output.device(), "plan 与 output 不在同一个设备上");
        const at::Tensor order = plan.contiguous();
@% endif %@
@% if kind == 'broadcast' %@
        TORCH_CHECK(root >= 0 && root < aclshmem_n_pes(), "没有 PE ", root);
@% endif %@
@% if symmetric_input %@
        TORCH_CHECK(input.is_contiguous(), "input 是对端直接读的对称内存，必须连续");
        const at::Tensor &source = input;
@% else %@
        const at::Tensor source = input.contiguous();
@% endif %@
@% if has_flags %@
        ++count_;
@% endif %@
@{ ('        launch_' ~ op ~ '(') | parameters(torch_arguments, ');') }@
    }

private:
@% if reduces %@
    static @{ Op }@Type type_of(at::ScalarType type)
    {
        switch (type) {
@% for dtype in dtypes %@
            case @{ dtype.torch }@:
                return @{ Op }@Type::@{ dtype.name | upper }@;
@% endfor %@
            default:
                TORCH_CHECK(false, "@{ op }@ 不支持这种 dtype");
        }
    }

@% endif %@
    static constexpr uint32_t BLOCK_DIM = @{ block_dim }@;
    uint64_t fftsAddr_;
@% if has_flags %@
    int32_t count_ = 0;
    void *flags_ = nullptr;
@% endif %@
};

}  // namespace ShmemOps

REGISTER_SHMEM_OPS_CLASS(@{ Op }@, compute, get_name);
