// SPDX-License-Identifier: Apache-2.0
// put_signal 的主程序：把本 PE 的数据经收件槽传给下一个 PE。
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "shmem.h"
#include "op_runtime.h"
#include "put_signal_kernel.h"

namespace {
constexpr uint64_t LOCAL_MEM_SIZE = 256UL * 1024UL * 1024UL;
constexpr uint32_t BLOCK_DIM = 8;
constexpr int ARGUMENTS = 8;

struct Options {
    int n_pes;
    int pe;
    const char *ipport;
    int npu;
    std::string data_dir;
    std::string output_dir;
    int64_t elements;
    int iterations;
};

struct Buffers {
    void *input = nullptr;
    void *output = nullptr;
    void *heap = nullptr;
};

int prepare(const Options &opt, Buffers *buf)
{
    const size_t bytes = opt.elements * sizeof(float);
    buf->heap = aclshmem_malloc(put_signal_heap_bytes(BLOCK_DIM));
    if (buf->heap == nullptr) {
        std::cerr << "[ERROR] 对称内存不足，需要 " << put_signal_heap_bytes(BLOCK_DIM) << " 字节" << std::endl;
        return 1;
    }
    // 只有信号区需要清零，收件槽总是先写后读。
    const size_t state = put_signal_state_bytes(BLOCK_DIM);
    ACL_CHECK_WITH_RET(aclrtMemset(buf->heap, state, 0, state), 1);
    std::vector<uint8_t> host(bytes);
    if (!read_file(opt.data_dir + "/input_pe" + std::to_string(opt.pe) + ".bin", &host)) {
        return 1;
    }
    ACL_CHECK_WITH_RET(aclrtMalloc(&buf->input, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 1);
    ACL_CHECK_WITH_RET(aclrtMalloc(&buf->output, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 1);
    ACL_CHECK_WITH_RET(aclrtMemcpy(buf->input, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), 1);
    aclshmem_barrier_all();
    return 0;
}

int compute(const Options &opt, aclrtStream stream, const Buffers &buf)
{
    for (int32_t magic = 1; magic <= opt.iterations; ++magic) {
        launch_put_signal(BLOCK_DIM, stream, static_cast<uint8_t *>(buf.input), static_cast<uint8_t *>(buf.output),
                          static_cast<uint8_t *>(buf.heap), opt.elements, magic);
    }
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    std::vector<uint8_t> host(opt.elements * sizeof(float));
    ACL_CHECK_WITH_RET(aclrtMemcpy(host.data(), host.size(), buf.output, host.size(), ACL_MEMCPY_DEVICE_TO_HOST), 1);
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

    aclshmem_free(buf.heap);
    status |= aclrtFree(buf.input);
    status |= aclrtFree(buf.output);
    status |= aclrtDestroyStream(stream);
    status |= aclshmem_finalize();
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: put_signal <PE 数> <PE> <ipport> <NPU> <数据目录> <输出目录> <元素数> <次数>\n";
        return 1;
    }
    const Options opt{std::atoi(argv[1]), std::atoi(argv[2]), argv[3],             std::atoi(argv[4]),
                      argv[5],            argv[6],            std::atoll(argv[7]), std::atoi(argv[8])};
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
