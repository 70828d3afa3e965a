// SPDX-License-Identifier: Apache-2.0
// alltoallv 的主程序。每个 PE 的计划由 gen_data.py 写好：发给谁多少、从哪取、放到对端哪里。
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "shmem.h"
#include "alltoallv_kernel.h"
#include "op_runtime.h"

namespace {
constexpr uint64_t LOCAL_MEM_SIZE = 1024UL * 1024UL * 1024UL;
constexpr uint32_t BLOCK_DIM = 16;
constexpr int ARGUMENTS = 9;

struct Options {
    int n_pes;
    int pe;
    const char *ipport;
    int npu;
    std::string data_dir;
    std::string output_dir;
    int64_t capacity;  // 任何 PE 收发总量的上限，元素数，所有 PE 相同
    int32_t elem_bytes;
    int iterations;
};

struct Buffers {
    void *send = nullptr;
    void *recv = nullptr;
    void *plan = nullptr;
    void *flags = nullptr;
};

// 读一个文件进新申请的设备内存。
int upload(const std::string &path, size_t bytes, void **device)
{
    std::vector<uint8_t> host(bytes);
    if (!read_file(path, &host)) {
        return 1;
    }
    ACL_CHECK_WITH_RET(aclrtMalloc(device, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 1);
    ACL_CHECK_WITH_RET(aclrtMemcpy(*device, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), 1);
    return 0;
}

// 实际收多少各 PE 不同，但对称内存一律按 capacity 申请：大小不一致会让地址错开。
int prepare(const Options &opt, Buffers *buf)
{
    const size_t bytes = opt.capacity * opt.elem_bytes;
    const size_t flag_bytes = alltoallv_flag_bytes(opt.n_pes, BLOCK_DIM);
    buf->recv = aclshmem_malloc(bytes);
    buf->flags = aclshmem_malloc(flag_bytes);
    if (buf->recv == nullptr || buf->flags == nullptr) {
        std::cerr << "[ERROR] 对称内存不足，需要 " << bytes + flag_bytes << " 字节" << std::endl;
        return 1;
    }
    // 没有人写的尾部保持 0xFF，越界写入会被检查脚本看见。
    ACL_CHECK_WITH_RET(aclrtMemset(buf->recv, bytes, 0xFF, bytes), 1);
    ACL_CHECK_WITH_RET(aclrtMemset(buf->flags, flag_bytes, 0, flag_bytes), 1);
    const std::string suffix = "_pe" + std::to_string(opt.pe) + ".bin";
    ACL_CHECK_WITH_RET(upload(opt.data_dir + "/input" + suffix, bytes, &buf->send), 1);
    ACL_CHECK_WITH_RET(upload(opt.data_dir + "/plan" + suffix, sizeof(AlltoallvPlan) * opt.n_pes, &buf->plan), 1);
    aclshmem_barrier_all();
    return 0;
}

int compute(const Options &opt, aclrtStream stream, const Buffers &buf)
{
    const uint64_t ffts = util_get_ffts_config();
    for (int32_t magic = 1; magic <= opt.iterations; ++magic) {
        launch_alltoallv(BLOCK_DIM, stream, ffts, static_cast<uint8_t *>(buf.send), static_cast<uint8_t *>(buf.recv),
                         static_cast<uint8_t *>(buf.plan), static_cast<uint8_t *>(buf.flags), opt.elem_bytes, magic);
    }
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    std::vector<uint8_t> host(opt.capacity * opt.elem_bytes);
    ACL_CHECK_WITH_RET(aclrtMemcpy(host.data(), host.size(), buf.recv, host.size(), ACL_MEMCPY_DEVICE_TO_HOST), 1);
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

    aclshmem_free(buf.recv);
    aclshmem_free(buf.flags);
    status |= aclrtFree(buf.send);
    status |= aclrtFree(buf.plan);
    status |= aclrtDestroyStream(stream);
    status |= aclshmem_finalize();
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: alltoallv <PE 数> <PE> <ipport> <NPU> <数据目录> <输出目录> <容量> <元素字节> <次数>\n";
        return 1;
    }
    const Options opt{std::atoi(argv[1]), std::atoi(argv[2]), argv[3],
                      std::atoi(argv[4]), argv[5],            argv[6],
                      std::atoll(argv[7]), std::atoi(argv[8]), std::atoi(argv[9])};
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
