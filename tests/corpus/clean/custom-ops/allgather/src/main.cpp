// SPDX-License-Identifier: Apache-2.0
// allgather 的主程序：初始化、准备数据、启动 kernel、写出结果。比对由 scripts/check_result.py 负责。
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "shmem.h"
#include "allgather_kernel.h"
#include "op_runtime.h"

namespace {
constexpr uint64_t LOCAL_MEM_SIZE = 1024UL * 1024UL * 1024UL;
constexpr uint32_t BLOCK_DIM = 16;
constexpr int ARGUMENTS = 9;
constexpr int32_t WARM_UP = 10;
constexpr double PEAK_GBPS = 28.0 * 7;  // HCCS 全互联：7 条链路，每条单向 28 GB/s

struct Options {
    int n_pes;
    int pe;
    const char *ipport;
    int npu;
    std::string data_dir;
    std::string output_dir;
    int64_t elements;
    int32_t elem_bytes;
    int iterations;
};

struct Buffers {
    void *input = nullptr;
    void *output = nullptr;
    void *flags = nullptr;
};

// 对称内存在每个 PE 上按同样的次序、同样的大小申请。
int prepare(const Options &opt, Buffers *buf)
{
    const size_t bytes = opt.elements * opt.elem_bytes;
    const size_t flag_bytes = allgather_flag_bytes(opt.n_pes, BLOCK_DIM);
    buf->output = aclshmem_malloc(bytes * opt.n_pes);
    buf->flags = aclshmem_malloc(flag_bytes);
    if (buf->output == nullptr || buf->flags == nullptr) {
        std::cerr << "[ERROR] 对称内存不足，需要 " << bytes * opt.n_pes + flag_bytes << " 字节" << std::endl;
        return 1;
    }
    std::vector<uint8_t> host(bytes);
    if (!read_file(opt.data_dir + "/input_pe" + std::to_string(opt.pe) + ".bin", &host)) {
        return 1;
    }
    ACL_CHECK_WITH_RET(aclrtMemset(buf->flags, flag_bytes, 0, flag_bytes), 1);
    ACL_CHECK_WITH_RET(aclrtMalloc(&buf->input, bytes, ACL_MEM_MALLOC_HUGE_FIRST), 1);
    ACL_CHECK_WITH_RET(aclrtMemcpy(buf->input, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), 1);
    // 标志清零对所有 PE 可见之后才能启动。
    aclshmem_barrier_all();
    return 0;
}

// 打印一行 [PERF]；kernel_us 从启动到流同步，e2e_us 另加取回结果。
void report(const Options &opt, double kernel_us, double e2e_us)
{
    const size_t payload = opt.elements * opt.elem_bytes * static_cast<size_t>(opt.n_pes);
    const double factor = static_cast<double>(opt.n_pes - 1) / opt.n_pes;
    const double kernel_bus = payload / kernel_us / 1e3 * factor;
    std::cout << "[PERF] pe=" << opt.pe << " e2e_us=" << e2e_us << " kernel_us=" << kernel_us
              << " algo_bandwidth_GBps=" << payload / e2e_us / 1e3
              << " e2e_bus_bandwidth_GBps=" << payload / e2e_us / 1e3 * factor
              << " kernel_bus_bandwidth_GBps=" << kernel_bus
              << " bandwidth_utilization_pct=" << kernel_bus / PEAK_GBPS * 100 << " payload_bytes=" << payload
              << " bus_factor=" << factor << " peak_bandwidth_GBps=" << PEAK_GBPS << std::endl;
}

int compute(const Options &opt, aclrtStream stream, const Buffers &buf)
{
    using Clock = std::chrono::steady_clock;
    const uint64_t ffts = util_get_ffts_config();
    // 热身轮的魔数不大于 0，等待立即返回；首次启动的开销不计入时间。
    for (int32_t warm = opt.iterations > 1 ? -WARM_UP : 0; warm < 0; ++warm) {
        launch_allgather(BLOCK_DIM, stream, ffts, static_cast<uint8_t *>(buf.input),
                         static_cast<uint8_t *>(buf.output), static_cast<uint8_t *>(buf.flags), opt.elements,
                         opt.elem_bytes, warm);
    }
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    const auto begin = Clock::now();
    for (int32_t magic = 1; magic <= opt.iterations; ++magic) {
        launch_allgather(BLOCK_DIM, stream, ffts, static_cast<uint8_t *>(buf.input),
                         static_cast<uint8_t *>(buf.output), static_cast<uint8_t *>(buf.flags), opt.elements,
                         opt.elem_bytes, magic);
    }
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    const auto kernel_end = Clock::now();

    std::vector<uint8_t> host(opt.elements * opt.elem_bytes * opt.n_pes);
    ACL_CHECK_WITH_RET(
        aclrtMemcpy(host.data(), host.size(), buf.output, host.size(), ACL_MEMCPY_DEVICE_TO_HOST), 1);
    const std::chrono::duration<double, std::micro> kernel = kernel_end - begin;
    const std::chrono::duration<double, std::micro> all = Clock::now() - begin;
    if (opt.iterations > 1) {
        report(opt, kernel.count() / opt.iterations, all.count() / opt.iterations);
    }
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

    aclshmem_free(buf.output);
    aclshmem_free(buf.flags);
    status |= aclrtFree(buf.input);
    status |= aclrtDestroyStream(stream);
    status |= aclshmem_finalize();
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: allgather <PE 数> <PE> <ipport> <NPU> <数据目录> <输出目录> <元素数> <元素字节> <次数>\n";
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
