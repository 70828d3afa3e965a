// SPDX-License-Identifier: Apache-2.0
// 所有算子共用的 Manager：初始化、对称内存、结束。
#include <cstring>
#include <string>

#include <torch/extension.h>
#include <torch_npu/csrc/aten/common/from_blob.h>

#include "shmem.h"
#include "torch_register.h"

namespace ShmemOps {

class Manager : public torch::jit::CustomClassHolder {
public:
    // 成功返回 0；所有 PE 的 local_mem_size 必须相同。
    int64_t attr_init(int64_t my_pe, int64_t n_pes, int64_t local_mem_size, const std::string &ip_port)
    {
        aclshmemx_init_attr_t attributes{};
        attributes.my_pe = static_cast<int>(my_pe);
        attributes.n_pes = static_cast<int>(n_pes);
        attributes.local_mem_size = static_cast<uint64_t>(local_mem_size);
        std::strncpy(attributes.ip_port, ip_port.c_str(), sizeof(attributes.ip_port) - 1);
        return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes);
    }

    int64_t finalize()
    {
        return aclshmem_finalize();
    }

    at::Tensor malloc_tensor(int64_t size)
    {
        void *memory = aclshmem_malloc(static_cast<size_t>(size));
        TORCH_CHECK(memory != nullptr, "对称内存不足：", size, " 字节");
        return at_npu::native::from_blob(memory, {size}, torch::dtype(torch::kUInt8));
    }

    // 与 like 同形状、同类型、同内容的对称张量。
    at::Tensor malloc_like(const at::Tensor &like)
    {
        const at::Tensor source = like.contiguous();
        void *memory = aclshmem_malloc(source.nbytes());
        TORCH_CHECK(memory != nullptr, "对称内存不足：", source.nbytes(), " 字节");
        at::Tensor symmetric = at_npu::native::from_blob(memory, source.sizes(), source.dtype());
        symmetric.copy_(source);
        return symmetric;
    }

    void free_tensor(const at::Tensor &symmetric)
    {
        TORCH_CHECK(symmetric.is_contiguous(), "只能释放 malloc_tensor、malloc_like 给出的张量");
        aclshmem_free(symmetric.data_ptr());
    }
};

}  // namespace ShmemOps

REGISTER_SHMEM_OPS_CLASS(Manager, attr_init, finalize, malloc_tensor, malloc_like, free_tensor);
