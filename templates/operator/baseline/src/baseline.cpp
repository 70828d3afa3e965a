// SPDX-License-Identifier: Apache-2.0
// @{ op }@ 的 HCCL 基线：只计 @{ k.baseline }@ 的时间，
// 数据量、热身与次数都与算子相同。
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

#include "hccl/hccl.h"
#include "op_runtime.h"

namespace {
constexpr int ARGUMENTS = 8;
constexpr int WAIT_SECONDS = 60;

struct Options {
    int n_pes;
    int pe;
    int npu;
    std::string root_file;
    int64_t elements;
    std::string dtype;
    int iterations;
    int warm_up;
};

bool type_of(const std::string &dtype, HcclDataType *type, size_t *bytes)
{
@% for dtype in dtypes %@
    if (dtype == "@{ dtype.name }@") {
        *type = @{ dtype.hccl }@;
        *bytes = @{ dtype.bytes }@;
        return true;
    }
@% endfor %@
    return false;
}

// PE 0 写出 root info，其余 PE 等它出现；先写临时文件再改名，读到的总是完整的。
int share_root(const Options &opt, HcclRootInfo *root)
{
    const std::string partial = opt.root_file + ".part";
    if (opt.pe == 0) {
        ACL_CHECK_WITH_RET(HcclGetRootInfo(root), 1);
        std::vector<uint8_t> bytes(sizeof(*root));
        std::memcpy(bytes.data(), root, sizeof(*root));
        return write_file(partial, bytes) && std::rename(partial.c_str(), opt.root_file.c_str()) == 0 ? 0 : 1;
    }
    for (int tick = 0; tick < WAIT_SECONDS * 10; ++tick) {
        if (std::ifstream(opt.root_file).good()) {
            std::vector<uint8_t> bytes(sizeof(*root));
            if (!read_file(opt.root_file, &bytes)) {
                return 1;
            }
            std::memcpy(root, bytes.data(), sizeof(*root));
            return 0;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::cerr << "[ERROR] 等不到 PE 0 的 root info：" << opt.root_file << std::endl;
    return 1;
}

@% if kind == 'alltoallv' %@
// 每对 PE 之间等长；HCCL 的长度与偏移是 Host 上的 uint64。
struct Counts {
    std::vector<uint64_t> counts;
    std::vector<uint64_t> offsets;
};

Counts counts_of(const Options &opt)
{
    Counts made;
    const uint64_t each = opt.elements / opt.n_pes;
    for (int peer = 0; peer < opt.n_pes; ++peer) {
        made.counts.push_back(each);
        made.offsets.push_back(each * peer);
    }
    return made;
}

@% endif %@
@{ 'int measure(' | parameters(['const Options &opt', 'HcclComm comm', 'aclrtStream stream'] + (['uint8_t *output'] if kind == 'broadcast' else ['uint8_t *input', 'uint8_t *output']) + ['HcclDataType type'], ')') }@
{
    using Clock = std::chrono::steady_clock;
@% if kind == 'alltoallv' %@
    const Counts plan = counts_of(opt);
@% endif %@
    auto begin = Clock::now();
    for (int round = -opt.warm_up; round < opt.iterations; ++round) {
        if (round == 0) {
            ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
            begin = Clock::now();
        }
@% if kind == 'allgather' %@
        ACL_CHECK_WITH_RET(HcclAllGather(input, output, opt.elements, type, comm, stream), 1);
@% elif kind == 'alltoall' %@
        ACL_CHECK_WITH_RET(HcclAlltoAll(input, opt.elements, type, output, opt.elements, type, comm, stream), 1);
@% elif kind == 'alltoallv' %@
        ACL_CHECK_WITH_RET(HcclAlltoAllV(input, plan.counts.data(), plan.offsets.data(), type, output,
                                         plan.counts.data(), plan.offsets.data(), type, comm, stream), 1);
@% elif kind == 'reduce-scatter' %@
        ACL_CHECK_WITH_RET(
            HcclReduceScatter(input, output, opt.elements, type, HCCL_REDUCE_SUM, comm, stream), 1);
@% elif kind == 'broadcast' %@
        ACL_CHECK_WITH_RET(HcclBroadcast(output, opt.elements, type, 0, comm, stream), 1);
@% endif %@
    }
    ACL_CHECK_WITH_RET(aclrtSynchronizeStream(stream), 1);
    const std::chrono::duration<double, std::micro> all = Clock::now() - begin;
    const double us = all.count() / opt.iterations;
    size_t bytes = 0;
    type_of(opt.dtype, &type, &bytes);
    const double payload = @{ payload_cpp | replace('elem_bytes_of(opt.dtype)', 'bytes') }@;
    const double factor = @{ factor_cpp }@;
    const double bandwidth = payload / us / 1e3;
    std::cout << "[BASELINE_PERF] pe=" << opt.pe << " api=@{ k.baseline }@ e2e_us=" << us << " kernel_us=" << us
              << " algo_bandwidth_GBps=" << bandwidth << " e2e_bus_bandwidth_GBps=" << bandwidth * factor
              << " kernel_bus_bandwidth_GBps=" << bandwidth * factor
              << " payload_bytes=" << static_cast<uint64_t>(payload) << " bus_factor=" << factor << std::endl;
    return 0;
}

int run(const Options &opt)
{
    HcclRootInfo root{};
    HcclComm comm = nullptr;
    HcclDataType type{};
    size_t bytes = 0;
    if (!type_of(opt.dtype, &type, &bytes)) {
        std::cerr << "[ERROR] 不支持的 dtype：" << opt.dtype << std::endl;
        return 1;
    }
    if (share_root(opt, &root) != 0) {
        return 1;
    }
    ACL_CHECK_WITH_RET(HcclCommInitRootInfo(opt.n_pes, &root, opt.pe, &comm), 1);
    const size_t input_bytes = static_cast<size_t>(opt.elements) * bytes@{ input_times }@;
    const size_t output_bytes = static_cast<size_t>(opt.elements) * bytes@{ output_times }@;
    aclrtStream stream = nullptr;
    uint8_t *input = nullptr;
    uint8_t *output = nullptr;
    int status = static_cast<int>(aclrtCreateStream(&stream));
    status |= aclrtMalloc(reinterpret_cast<void **>(&input), input_bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    status |= aclrtMalloc(reinterpret_cast<void **>(&output), output_bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    status = status == 0 ? aclrtMemset(input, input_bytes, 0, input_bytes) : status;
    status = status == 0 ? aclrtMemset(output, output_bytes, 0, output_bytes) : status;
    status = status == 0 ? measure(opt, comm, stream, @{ 'output' if kind == 'broadcast' else 'input, output' }@, type) : status;

    status |= aclrtFree(input);
    status |= aclrtFree(output);
    status |= aclrtDestroyStream(stream);
    status |= static_cast<int>(HcclCommDestroy(comm));
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: @{ op }@_baseline <PE 数> <PE> <NPU> <root info 文件>"
                     " <元素数> <dtype> <次数> <热身次数>\n";
        return 1;
    }
    const Options opt{std::atoi(argv[1]),  std::atoi(argv[2]), std::atoi(argv[3]), argv[4],
                      std::atoll(argv[5]), argv[6],            std::atoi(argv[7]), std::atoi(argv[8])};
    ACL_CHECK_WITH_RET(aclInit(nullptr), 1);
    ACL_CHECK_WITH_RET(aclrtSetDevice(opt.npu), 1);
    int status = run(opt);
    status |= aclrtResetDevice(opt.npu);
    status |= aclFinalize();
    return status == 0 ? 0 : 1;
}
