// SPDX-License-Identifier: Apache-2.0
#ifndef OP_RUNTIME_H
#define OP_RUNTIME_H

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "acl/acl.h"

// 失败时说明是哪个调用，再把 value 交给调用者；资源由外层统一释放。
#define ACL_CHECK_WITH_RET(call, value)                                                      \
    do {                                                                                     \
        const int acl_status_ = static_cast<int>(call);                                      \
        if (acl_status_ != 0) {                                                              \
            std::fprintf(stderr, "[ERROR] %s -> %d (%s:%d)\n", #call, acl_status_, __FILE__, __LINE__); \
            return (value);                                                                  \
        }                                                                                    \
    } while (0)

// 读满 bytes 个字节才算成功。
inline bool read_file(const std::string &path, std::vector<uint8_t> *data)
{
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char *>(data->data()), static_cast<std::streamsize>(data->size()));
    if (file.gcount() != static_cast<std::streamsize>(data->size())) {
        std::fprintf(stderr, "[ERROR] %s 不足 %zu 字节\n", path.c_str(), data->size());
        return false;
    }
    return true;
}

inline bool write_file(const std::string &path, const std::vector<uint8_t> &data)
{
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(data.data()), static_cast<std::streamsize>(data.size()));
    file.close();
    return static_cast<bool>(file);
}

// 读入一个文件，放进新申请的普通 GM。
inline int upload(const std::string &path, size_t bytes, uint8_t **device)
{
    std::vector<uint8_t> host(bytes);
    if (!read_file(path, &host)) {
        return 1;
    }
    ACL_CHECK_WITH_RET(aclrtMalloc(reinterpret_cast<void **>(device), bytes, ACL_MEM_MALLOC_HUGE_FIRST), 1);
    ACL_CHECK_WITH_RET(aclrtMemcpy(*device, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), 1);
    return 0;
}

#endif
