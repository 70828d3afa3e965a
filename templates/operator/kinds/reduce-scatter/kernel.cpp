// SPDX-License-Identifier: Apache-2.0
// @{ op }@：自己那一段直接写入输出作为初值，其余各段用原子加累到属主。
@% include 'parts/kernel_head.cpp' %@
@% include 'parts/tiles.cpp' %@

@% include 'parts/share.cpp' %@

@% set directions = ['put'] %@
@% include 'parts/copy_tiles.cpp' %@

template <typename T>
@{ ('ACLSHMEM_DEVICE void ' ~ op ~ '_impl(') | parameters(['GM_ADDR input', 'GM_ADDR output', 'int64_t elements'], ')') }@
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const Share mine = share_of(elements);
    __gm__ T *source = reinterpret_cast<__gm__ T *>(input) + mine.offset;
    __gm__ T *target = reinterpret_cast<__gm__ T *>(output) + mine.offset;

    // 自己的贡献就是初值，不必先清零。
    TilePipe<T> tiles;
    tiles.begin();
    tiles.put(target, source + my_pe * elements, mine.length, my_pe);
    aclshmemx_mte_quiet();
    // 初值都写完了，别人才能往上加。
    aclshmem_barrier_all();

    // 从下一个 PE 开始，把各段加到属主那里；加法由存储通路做。
    SetAtomicAdd<T>();
    for (int step = 1; step < n_pes; ++step) {
        const int peer = (my_pe + step) % n_pes;
        tiles.put(target, source + peer * elements, mine.length, peer);
    }
    tiles.end();
    aclshmemx_mte_quiet();
    SetAtomicNone();
    // 所有加法都到齐，输出才可读。
    aclshmem_barrier_all();
}

#define @{ OP }@_KERNEL(suffix, type) \
    extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void @{ op }@_##suffix( \
        uint64_t ffts, GM_ADDR input, GM_ADDR output, int64_t elements) \
    { \
        util_set_ffts_config(ffts); \
        @{ op }@_impl<type>(input, output, elements); \
    }

@% for dtype in dtypes %@
@{ OP }@_KERNEL(@{ dtype.short }@, @{ dtype.device }@)
@% endfor %@

@{ ('void launch_' ~ op ~ '(') | parameters(launch_parameters, ')') }@
{
    switch (type) {
@% for dtype in dtypes %@
        case @{ Op }@Type::@{ dtype.name | upper }@:
            @{ op }@_@{ dtype.short }@<<<block_dim, nullptr, stream>>>(ffts, input, output, elements);
            break;
@% endfor %@
    }
}
