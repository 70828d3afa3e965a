// SPDX-License-Identifier: Apache-2.0
// reduce_scatter 的主程序：读入 n_pes 段输入，启动 kernel，写出本 PE 的一段和。
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "shmem.h"
#include "op_runtime.h"
#include "reduce_scatter_kernel.h"

namespace {
constexpr uint64_t LOCAL_MEM_SIZE = 1024UL * 1024UL * 1024UL;
constexpr uint32_t BLOCK_DIM = 24;
constexpr int ARGUMENTS = 9;

struct Options {
    int n_pes;
    int pe;
    const char *ipport;
    int npu;
    std::string data_dir;
    std::string output_dir;
    int64_t elements;
    std::string dtype;
    int iterations;
};

ReduceType type_of(const std::string &dtype)
{
    if (dtype == "float16") {
        return ReduceType::FLOAT16;
    }
    return dtype == "float32" ? ReduceType::FLOAT32 : ReduceType::INT32;
}

size_t output_bytes(const Options &opt)
{
    return opt.elements * (opt.dtype == "float16" ? 2 : 4);
}

int prepare(const Options &opt, void **input)
{
    std::vector<uint8_t> host(output_bytes(opt) * opt.n_pes);
    if (!read_file(opt.data_dir + "/input_pe" + std::to_string(opt.pe) + ".bin", &host)) {
        return 1;
    }
    ACL_CHECK_WITH_RET(aclrtMalloc(input, host.size(), ACL_MEM_MALLOC_HUGE_FIRST), 1);
    ACL_CHECK_WITH_RET(aclrtMemcpy(*input, host.size(), host.data(), host.size(), ACL_MEMCPY_HOST_TO_DEVICE), 1);
    return 0;
}

int compute(const Options &opt, aclrtStream stream, void *input, void *output)
{
    const uint64_t ffts = util_get_ffts_config();
    for (int round = 0; round < opt.iterations; ++round) {
        launch_reduce_scatter(BLOCK_DIM, stream, ffts, static_cast<uint8_t *>(input),
                              static_cast<uint8_t *>(output), opt.elements, type_of(opt.dtype));
    }
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    std::vector<uint8_t> host(output_bytes(opt));
    ACL_CHECK_WITH_RET(aclrtMemcpy(host.data(), host.size(), output, host.size(), ACL_MEMCPY_DEVICE_TO_HOST), 1);
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
    void *input = nullptr;
    void *output = aclshmem_malloc(output_bytes(opt));
    if (output == nullptr) {
        std::cerr << "[ERROR] 对称内存不足，需要 " << output_bytes(opt) << " 字节" << std::endl;
    }
    int status = output == nullptr ? 1 : static_cast<int>(aclrtCreateStream(&stream));
    status = status == 0 ? prepare(opt, &input) : status;
    status = status == 0 ? compute(opt, stream, input, output) : status;

    aclshmem_free(output);
    status |= aclrtFree(input);
    status |= aclrtDestroyStream(stream);
    status |= aclshmem_finalize();
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: reduce_scatter <PE 数> <PE> <ipport> <NPU> <数据目录> <输出目录> <元素数> <dtype> <次数>\n";
        return 1;
    }
    const Options opt{std::atoi(argv[1]), std::atoi(argv[2]), argv[3], std::atoi(argv[4]), argv[5],
                      argv[6],            std::atoll(argv[7]), argv[8], std::atoi(argv[9])};
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
