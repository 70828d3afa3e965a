// Programs of one case each: `native CASE fault|clean N PE` runs PE of N and says "ok" when all went well.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "shmem.h"

struct Here {
    int n, pe;
    bool faulty;
    aclrtStream stream;
};

using Case = std::function<void(const Here &)>;
std::map<std::string, Case> &cases();

struct Register {
    Register(const char *name, Case body) { cases()[name] = std::move(body); }
};

#define CASE(NAME)                                            \
    static void NAME(const Here &here);                       \
    static const Register NAME##_registered(#NAME, NAME);     \
    static void NAME([[maybe_unused]] const Here &here)

#define REQUIRE(CONDITION)                                                                        \
    do {                                                                                          \
        if (!(CONDITION)) {                                                                       \
            fprintf(stderr, "PE %d: %s:%d: %s\n", here.pe, __FILE__, __LINE__, #CONDITION);       \
            _Exit(3);                                                                             \
        }                                                                                         \
    } while (0)

// A kernel on the case's stream; returns when it is done.
inline void run(const Here &here, uint32_t blocks, std::function<void()> kernel, opdev_sim::Site at = opdev_sim::here())
{
    opdev_sim::kernel_call("kernel", opdev_sim::Cores::vector, std::move(kernel), blocks, nullptr, here.stream, at)();
    aclrtSynchronizeStream(here.stream, at);
}

template <class T>
T *symmetric(size_t count)
{
    return static_cast<T *>(aclshmem_calloc(count, sizeof(T)));
}
template <class T>
T *device(size_t count)
{
    void *p = nullptr;
    aclrtMalloc(&p, count * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST);
    return static_cast<T *>(p);
}
