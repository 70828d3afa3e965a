// What `kernel<<<block_dim, l2, stream>>>(arguments)` is rewritten to.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <utility>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/launch.h"

namespace opdev_sim {

// Takes the kernel's arguments, by value as a launch does, and queues it.
template <class Kernel>
class KernelCall {
public:
    KernelCall(const char *name, Cores cores, Kernel kernel, uint32_t block_dim, void *stream, Site at)
        : name_(name), cores_(cores), kernel_(std::move(kernel)), block_dim_(block_dim), stream_(stream), at_(at)
    {
    }
    template <class... Arguments>
    void operator()(Arguments... arguments) const
    {
        const Kernel kernel = kernel_;
        launch(
            name_, block_dim_, stream_,
            [=] {
                KernelScope scope;
                kernel(arguments...);
                scope.finish();
            },
            cores_, at_);
    }

private:
    const char *name_;
    Cores cores_;
    Kernel kernel_;
    uint32_t block_dim_;
    void *stream_;
    Site at_;
};

template <class Kernel, class L2>
inline KernelCall<Kernel> kernel_call(const char *name, Cores cores, Kernel kernel, uint32_t block_dim, L2, void *stream,
                                      Site at = here())
{
    return KernelCall<Kernel>(name, cores, std::move(kernel), block_dim, stream, at);
}

}  // namespace opdev_sim
