// SPDX-License-Identifier: Apache-2.0
// @{ op }@ 的主程序：初始化、准备数据、启动 kernel、写出结果。
// 比对由 scripts/check_result.py 负责。
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "shmem.h"
#include "@{ op }@_kernel.h"
#include "op_runtime.h"

namespace {
constexpr uint64_t LOCAL_MEM_SIZE = 1024UL * 1024UL * 1024UL;
constexpr uint32_t BLOCK_DIM = @{ block_dim }@;
constexpr int ARGUMENTS = @{ 11 if kind == 'broadcast' else 10 }@;
constexpr int REPEATS = 3;  // 每次采集重复测量，取中位数并看离散程度

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
    int warm_up;
@% if kind == 'broadcast' %@
    int root;
@% endif %@
};

struct Buffers {
    uint8_t *input = nullptr;
    uint8_t *output = nullptr;
@% if has_plan %@
    uint8_t *plan = nullptr;
@% endif %@
@% if has_flags %@
    uint8_t *flags = nullptr;
@% endif %@
};

@% if kind == 'reduce-scatter' %@
// 本程序支持的 dtype；其余在这里拒绝。
bool type_of(const std::string &dtype, @{ Op }@Type *type)
{
@% for dtype in dtypes %@
    if (dtype == "@{ dtype.name }@") {
        *type = @{ Op }@Type::@{ dtype.name | upper }@;
        return true;
    }
@% endfor %@
    return false;
}

@% endif %@
// 一个元素的字节数；不支持的 dtype 为 0。
int32_t elem_bytes_of(const std::string &dtype)
{
@% for width, names in widths_by_size.items() %@
    if (@% for name in names %@dtype == "@{ name }@"@{ ' || ' if not loop.last }@@% endfor %@) {
        return @{ width }@;
    }
@% endfor %@
    return 0;
}

size_t input_bytes(const Options &opt)
{
    return static_cast<size_t>(opt.elements) * elem_bytes_of(opt.dtype)@{ input_times }@;
}

size_t output_bytes(const Options &opt)
{
    return static_cast<size_t>(opt.elements) * elem_bytes_of(opt.dtype)@{ output_times }@;
}

// 对称内存在每个 PE 上按同样的次序、同样的大小申请。
int prepare(const Options &opt, Buffers *buf)
{
    const std::string suffix = "_pe" + std::to_string(opt.pe) + ".bin";
    buf->output = static_cast<uint8_t *>(aclshmem_malloc(output_bytes(opt)));
@% if symmetric_input %@
    buf->input = static_cast<uint8_t *>(aclshmem_malloc(input_bytes(opt)));
@% endif %@
@% if has_flags %@
    const size_t flag_bytes = @{ op }@_flag_bytes(opt.n_pes, BLOCK_DIM);
    buf->flags = static_cast<uint8_t *>(aclshmem_malloc(flag_bytes));
@% endif %@
    if (@{ symmetric | map('prefix', 'buf->') | map('suffix', ' == nullptr') | join(' || ') }@) {
        const size_t needed = @{ symmetric_bytes }@;
        std::cerr << "[ERROR] 对称内存不足，需要 " << needed << " 字节" << std::endl;
        return 1;
    }
    // 没有写到的输出保持 0xFF，比对时看得出来。
    ACL_CHECK_WITH_RET(aclrtMemset(buf->output, output_bytes(opt), 0xFF, output_bytes(opt)), 1);
@% if has_flags %@
    ACL_CHECK_WITH_RET(aclrtMemset(buf->flags, flag_bytes, 0, flag_bytes), 1);
@% endif %@
@% if symmetric_input %@
    std::vector<uint8_t> host(input_bytes(opt));
    if (!read_file(opt.data_dir + "/input" + suffix, &host)) {
        return 1;
    }
    ACL_CHECK_WITH_RET(
        aclrtMemcpy(buf->input, host.size(), host.data(), host.size(), ACL_MEMCPY_HOST_TO_DEVICE), 1);
@% else %@
    ACL_CHECK_WITH_RET(upload(opt.data_dir + "/input" + suffix, input_bytes(opt), &buf->input), 1);
@% endif %@
@% if has_plan %@
    const size_t plan_bytes = sizeof(@{ Op }@Plan) * opt.n_pes;
    ACL_CHECK_WITH_RET(upload(opt.data_dir + "/plan" + suffix, plan_bytes, &buf->plan), 1);
@% endif %@
    // 初值对所有 PE 可见之后才能启动。
    aclshmem_barrier_all();
    return 0;
}

// 连续启动 count 次，返回平均微秒数；each 为真时每次都等流同步。magic 每次启动加一，信号不会认错轮次。
int launch(const Options &opt, aclrtStream stream, const Buffers &buf, int count, bool each, int32_t *magic,
           double *us)
{
    using Clock = std::chrono::steady_clock;
    const uint64_t ffts = util_get_ffts_config();
@% if kind == 'reduce-scatter' %@
    @{ Op }@Type type{};
    if (!type_of(opt.dtype, &type)) {
        std::cerr << "[ERROR] 不支持的 dtype：" << opt.dtype << std::endl;
        return 1;
    }
@% else %@
    const int32_t elem_bytes = elem_bytes_of(opt.dtype);
@% endif %@
    const auto begin = Clock::now();
    for (int round = 0; round < count; ++round) {
        ++*magic;
@{ ('        launch_' ~ op ~ '(') | parameters(host_arguments, ');') }@
        if (each) {
            ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
        }
    }
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    const std::chrono::duration<double, std::micro> all = Clock::now() - begin;
    *us = count > 0 ? all.count() / count : 0;
    return 0;
}

// 打印一行 [PERF]。放置 A（MTE）：输入由 kernel 直接读；e2e 每次启动都等流同步，kernel 按连续启动取平均。
void report(const Options &opt, double kernel_us, double e2e_us)
{
    const double payload = @{ payload_cpp }@;
    const double factor = @{ factor_cpp }@;
    const double peak = @{ peak_cpp }@;  // @{ peak_note }@
    const double kernel_bus = payload / kernel_us / 1e3 * factor;
    std::cout << "[PERF] pe=" << opt.pe << " e2e_us=" << e2e_us << " kernel_us=" << kernel_us
              << " algo_bandwidth_GBps=" << payload / e2e_us / 1e3
              << " e2e_bus_bandwidth_GBps=" << payload / e2e_us / 1e3 * factor
              << " kernel_bus_bandwidth_GBps=" << kernel_bus
              << " bandwidth_utilization_pct=" << kernel_bus / peak * 100
              << " payload_bytes=" << static_cast<uint64_t>(payload) << " bus_factor=" << factor
              << " peak_bandwidth_GBps=" << peak << std::endl;
}

int compute(const Options &opt, aclrtStream stream, const Buffers &buf)
{
    int32_t magic = 0;
    double kernel_us = 0;
    double e2e_us = 0;
    if (opt.warm_up > 0) {
        // 首次启动的开销不计入时间。
        ACL_CHECK_WITH_RET(launch(opt, stream, buf, opt.warm_up, true, &magic, &e2e_us), 1);
    }
    const int repeats = opt.warm_up > 0 ? REPEATS : 1;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        if (opt.warm_up > 0) {
            ACL_CHECK_WITH_RET(launch(opt, stream, buf, opt.iterations, true, &magic, &e2e_us), 1);
        }
        ACL_CHECK_WITH_RET(launch(opt, stream, buf, opt.iterations, false, &magic, &kernel_us), 1);
        if (opt.warm_up > 0) {
            report(opt, kernel_us, e2e_us);
        }
    }
    std::vector<uint8_t> host(output_bytes(opt));
    ACL_CHECK_WITH_RET(
        aclrtMemcpy(host.data(), host.size(), buf.output, host.size(), ACL_MEMCPY_DEVICE_TO_HOST), 1);
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

@% for name in symmetric %@
    aclshmem_free(buf.@{ name }@);
@% endfor %@
@% for name in local %@
    status |= aclrtFree(buf.@{ name }@);
@% endfor %@
    status |= aclrtDestroyStream(stream);
    status |= aclshmem_finalize();
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: @{ op }@ <PE 数> <PE> <ipport> <NPU> <数据目录> <输出目录>"
                     " <元素数> <dtype> <次数> <热身次数>@{ ' <root>' if kind == 'broadcast' }@\n";
        return 1;
    }
    const Options opt{std::atoi(argv[1]),  std::atoi(argv[2]), argv[3],            std::atoi(argv[4]),
                      argv[5],             argv[6],            std::atoll(argv[7]), argv[8],
                      std::atoi(argv[9]), std::atoi(argv[10])@{ ', std::atoi(argv[11])' if kind == 'broadcast' }@};
    if (elem_bytes_of(opt.dtype) == 0) {
        std::cerr << "[ERROR] 不支持的 dtype：" << opt.dtype << std::endl;
        return 1;
    }
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
