// SPDX-License-Identifier: Apache-2.0
// matmul_allreduce 的主程序：每个 PE 有 A 的一段列、B 的一段行，C 是全部 PE 部分和之和。
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "shmem.h"
#include "matmul_allreduce_kernel.h"
#include "op_runtime.h"

namespace {
constexpr uint64_t LOCAL_MEM_SIZE = 1024UL * 1024UL * 1024UL;
constexpr uint32_t BLOCK_DIM = 20;  // 910B3/B4 的 AIC 数
constexpr size_t HALF_BYTES = 2;
constexpr int ARGUMENTS = 9;

struct Options {
    int n_pes;
    int pe;
    const char *ipport;
    int npu;
    std::string data_dir;
    std::string output_dir;
    MatmulShape shape;
};

struct Buffers {
    void *a = nullptr;
    void *b = nullptr;
    void *c = nullptr;
    void *workspace = nullptr;
};

size_t result_bytes(const Options &opt)
{
    return sizeof(float) * opt.shape.m * opt.shape.n;
}

int upload(const Options &opt, const char *name, size_t bytes, void **device)
{
    std::vector<uint8_t> host(bytes);
    if (!read_file(opt.data_dir + "/" + name + "_pe" + std::to_string(opt.pe) + ".bin", &host)) {
        return 1;
    }
    ACL_CHECK_WITH_RET(aclrtMalloc(device, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 1);
    ACL_CHECK_WITH_RET(aclrtMemcpy(*device, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), 1);
    return 0;
}

int prepare(const Options &opt, Buffers *buf)
{
    const MatmulShape &s = opt.shape;
    buf->c = aclshmem_malloc(result_bytes(opt));
    if (buf->c == nullptr) {
        std::cerr << "[ERROR] 对称内存不足，需要 " << result_bytes(opt) << " 字节" << std::endl;
        return 1;
    }
    ACL_CHECK_WITH_RET(upload(opt, "a", HALF_BYTES * s.m * s.k, &buf->a), 1);
    ACL_CHECK_WITH_RET(upload(opt, "b", HALF_BYTES * s.k * s.n, &buf->b), 1);
    ACL_CHECK_WITH_RET(
        aclrtMalloc(&buf->workspace, matmul_workspace_bytes(BLOCK_DIM), ACL_MEM_MALLOC_HUGE_FIRST), 1);
    return 0;
}

int compute(const Options &opt, aclrtStream stream, const Buffers &buf)
{
    launch_matmul_allreduce(BLOCK_DIM, stream, util_get_ffts_config(), static_cast<uint8_t *>(buf.a),
                            static_cast<uint8_t *>(buf.b), static_cast<uint8_t *>(buf.c),
                            static_cast<uint8_t *>(buf.workspace), opt.shape);
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    std::vector<uint8_t> host(result_bytes(opt));
    ACL_CHECK_WITH_RET(aclrtMemcpy(host.data(), host.size(), buf.c, host.size(), ACL_MEMCPY_DEVICE_TO_HOST), 1);
    return write_file(opt.output_dir + "/output_pe" + std::to_string(opt.pe) + ".bin", host) ? 0 : 1;
}

int run(const Options &opt)
{
    aclshmemx_init_attr_t attributes{};
    attributes.my_pe = opt.pe;
    attributes.n_pes = opt.n_pes;
    attributes.local_mem_size = LOCAL_MEM_SIZE;
    std::strncpy(attributes.ip_port, opt.ipport, sizeof(attributes.ip_port) - 1);
    ACL_CHECK_WITH_RET(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes), 1);

    aclrtStream stream = nullptr;
    Buffers buf;
    int status = static_cast<int>(aclrtCreateStream(&stream));
    status = status == 0 ? prepare(opt, &buf) : status;
    status = status == 0 ? compute(opt, stream, buf) : status;

    aclshmem_free(buf.c);
    status |= aclrtFree(buf.a);
    status |= aclrtFree(buf.b);
    status |= aclrtFree(buf.workspace);
    status |= aclrtDestroyStream(stream);
    status |= aclshmem_finalize();
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: matmul_allreduce <PE 数> <PE> <ipport> <NPU> <数据目录> <输出目录> <m> <n> <k>\n";
        return 1;
    }
    const MatmulShape shape{static_cast<uint32_t>(std::atoi(argv[7])), static_cast<uint32_t>(std::atoi(argv[8])),
                            static_cast<uint32_t>(std::atoi(argv[9]))};
    const Options opt{std::atoi(argv[1]), std::atoi(argv[2]), argv[3], std::atoi(argv[4]), argv[5], argv[6], shape};
    ACL_CHECK_WITH_RET(aclInit(nullptr), 1);
    ACL_CHECK_WITH_RET(aclrtSetDevice(opt.npu), 1);
    int status = run(opt);
    status |= aclrtResetDevice(opt.npu);
    status |= aclFinalize();
    if (status == 0) {
        std::cout << "[SUCCESS] pe " << opt.pe << std::endl;
    }
    return status == 0 ? 0 : 1;
}
