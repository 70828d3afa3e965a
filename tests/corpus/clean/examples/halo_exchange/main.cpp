// SPDX-License-Identifier: Apache-2.0
// halo_exchange 示例：读入带空边界的网格，交换一次，写出整个网格。
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "shmem.h"
#include "halo_exchange_kernel.h"

namespace {
constexpr uint64_t LOCAL_MEM_SIZE = 256UL * 1024UL * 1024UL;
constexpr uint32_t BLOCK_DIM = 8;
constexpr int ARGUMENTS = 7;

#define ACL_CHECK_WITH_RET(call, value)                                 \
    do {                                                                \
        const int check_status = static_cast<int>(call);                \
        if (check_status != 0) {                                        \
            std::cerr << #call << " -> " << check_status << std::endl;  \
            return (value);                                             \
        }                                                               \
    } while (0)

int exchange(const std::string &folder, int pe, int32_t rows, int32_t width, aclrtStream stream)
{
    const size_t bytes = sizeof(float) * (rows + 2) * width;
    void *grid = aclshmem_malloc(bytes);
    if (grid == nullptr) {
        std::cerr << "对称内存不足：" << bytes << " 字节" << std::endl;
        return 1;
    }
    std::vector<char> host(bytes);
    const std::string suffix = "_pe" + std::to_string(pe) + ".bin";
    std::ifstream input(folder + "/input" + suffix, std::ios::binary);
    int status = input.read(host.data(), static_cast<std::streamsize>(bytes)) ? 0 : 1;
    status |= aclrtMemcpy(grid, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    // 邻居可能已经开始写边界：先都准备好。
    aclshmem_barrier_all();
    launch_halo_exchange(BLOCK_DIM, stream, util_get_ffts_config(), static_cast<uint8_t *>(grid), rows, width);
    status |= aclrtSynchronizeStream(stream);
    status |= aclrtMemcpy(host.data(), bytes, grid, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    std::ofstream output(folder + "/output" + suffix, std::ios::binary);
    status |= output.write(host.data(), static_cast<std::streamsize>(bytes)) ? 0 : 1;
    aclshmem_free(grid);
    return status;
}
}  // namespace

int main(int argc, char *argv[])
{
    if (argc != ARGUMENTS + 1) {
        std::cerr << "用法: halo_exchange <PE 数> <PE> <ipport> <NPU> <数据目录> <行> <列>" << std::endl;
        return 1;
    }
    const int device = std::atoi(argv[4]);
    ACL_CHECK_WITH_RET(aclInit(nullptr), 1);
    ACL_CHECK_WITH_RET(aclrtSetDevice(device), 1);
    aclshmemx_init_attr_t attributes{};
    attributes.my_pe = std::atoi(argv[2]);
    attributes.n_pes = std::atoi(argv[1]);
    attributes.local_mem_size = LOCAL_MEM_SIZE;
    std::strncpy(attributes.ip_port, argv[3], sizeof(attributes.ip_port) - 1);
    ACL_CHECK_WITH_RET(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes), 1);

    aclrtStream stream = nullptr;
    int status = static_cast<int>(aclrtCreateStream(&stream));
    if (status == 0) {
        status = exchange(argv[5], attributes.my_pe, std::atoi(argv[6]), std::atoi(argv[7]), stream);
        status |= aclrtDestroyStream(stream);
    }
    status |= aclshmem_finalize();
    status |= aclrtResetDevice(device);
    status |= aclFinalize();
    if (status == 0) {
        std::cout << "[SUCCESS] pe " << attributes.my_pe << std::endl;
    }
    return status == 0 ? 0 : 1;
}
