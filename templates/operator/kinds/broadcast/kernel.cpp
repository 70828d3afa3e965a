// SPDX-License-Identifier: Apache-2.0
// @{ op }@：root 把第 p 片发给 PE p，每个 PE 再把收到的那一片转发给其余 PE；
// 所有链路同时有数据。
@% include 'parts/kernel_head.cpp' %@
@% include 'parts/tiles.cpp' %@

// 一段连续的数据，单位是元素。
struct Share {
    int64_t offset;
    int64_t length;
};

// 均匀切成 parts 段里的第 index 段：前 extra 段各多一个元素。
ACLSHMEM_DEVICE Share share_of(int64_t elements, int64_t index, int64_t parts)
{
    const int64_t base = elements / parts;
    const int64_t extra = elements % parts;
    return Share{index * base + (index < extra ? index : extra), base + (index < extra ? 1 : 0)};
}

// 第 piece 片里由本 AIV 搬运的部分；先按 PE 切片，再按 AIV 平分。
ACLSHMEM_DEVICE Share piece_of(int64_t elements, int64_t piece, int64_t n_pes)
{
    const Share whole = share_of(elements, piece, n_pes);
    const Share mine = share_of(whole.length, GetBlockIdx(), GetBlockNum());
    return Share{whole.offset + mine.offset, mine.length};
}

// 第 piece 片到达的信号；一个信号独占一条缓存行。
ACLSHMEM_DEVICE __gm__ int32_t *slot_of(GM_ADDR flags, int piece)
{
    return reinterpret_cast<__gm__ int32_t *>(flags) +
           (piece * GetBlockNum() + GetBlockIdx()) * @{ OP }@_FLAG_INTERVAL;
}

@% set directions = ['put'] %@
@% include 'parts/copy_tiles.cpp' %@

template <typename T>
@{ ('ACLSHMEM_DEVICE void ' ~ op ~ '_impl(') | parameters(['GM_ADDR input', 'GM_ADDR output', 'GM_ADDR flags', 'int64_t elements', 'int32_t root', 'int32_t magic'], ')') }@
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    __gm__ T *source = reinterpret_cast<__gm__ T *>(input);
    __gm__ T *target = reinterpret_cast<__gm__ T *>(output);

    // 所有 PE 都进入这一轮，才能覆盖它们的输出：上一轮的结果可能还在被读取。
    aclshmem_barrier_all();
    TilePipe<T> tiles;
    tiles.begin();
    if (my_pe == root) {
        // AIV 的起点各不相同：各条链路从一开始就都有数据。
        for (int step = 0; step < n_pes; ++step) {
            const int peer = static_cast<int>((GetBlockIdx() + step) % n_pes);
            const Share piece = piece_of(elements, peer, n_pes);
            tiles.put(target + piece.offset, source + piece.offset, piece.length, peer);
            // 数据先到，信号后到。
            aclshmemx_mte_quiet();
            aclshmemx_signal_op(slot_of(flags, peer), magic, ACLSHMEM_SIGNAL_SET, peer);
        }
    }

    // 自己那一片到了就转发给其余 PE，不等别的片。
    aclshmem_signal_wait_until(slot_of(flags, my_pe), ACLSHMEM_CMP_GE, magic);
    const Share mine = piece_of(elements, my_pe, n_pes);
    for (int step = 1; step < n_pes; ++step) {
        const int peer = (my_pe + step) % n_pes;
        tiles.put(target + mine.offset, target + mine.offset, mine.length, peer);
        aclshmemx_mte_quiet();
        aclshmemx_signal_op(slot_of(flags, my_pe), magic, ACLSHMEM_SIGNAL_SET, peer);
    }
    tiles.end();
    // 各 AIV 等齐自己的部分；kernel 结束时本 PE 的输出就完整了。
    for (int piece = 0; piece < n_pes; ++piece) {
        aclshmem_signal_wait_until(slot_of(flags, piece), ACLSHMEM_CMP_GE, magic);
    }
}

@% include 'parts/launch.cpp' %@
