// SPDX-License-Identifier: Apache-2.0
// @{ op }@：第 p 段写到 PE p 的输出里属于本 PE 的那一段；
// AIV 平分每一段，依次服务各个对端。
@% include 'parts/kernel_head.cpp' %@
@% include 'parts/tiles.cpp' %@

@% include 'parts/share.cpp' %@

@% include 'parts/slot.cpp' %@

@% set directions = ['put'] %@
@% include 'parts/copy_tiles.cpp' %@

template <typename T>
@{ ('ACLSHMEM_DEVICE void ' ~ op ~ '_impl(') | parameters(['GM_ADDR input', 'GM_ADDR output', 'GM_ADDR flags', 'int64_t elements', 'int32_t magic'], ')') }@
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const Share mine = share_of(elements);
    __gm__ T *source = reinterpret_cast<__gm__ T *>(input) + mine.offset;
    __gm__ T *target = reinterpret_cast<__gm__ T *>(output) + my_pe * elements + mine.offset;

    // 所有 PE 都进入这一轮，才能覆盖它们的输出：上一轮的结果可能还在被读取。
    aclshmem_barrier_all();
    // 对端错开：任一时刻没有两个 PE 写同一个对端；最后一步写自己。
    TilePipe<T> tiles;
    tiles.begin();
    for (int step = 1; step <= n_pes; ++step) {
        const int peer = (my_pe + step) % n_pes;
        tiles.put(target, source + peer * elements, mine.length, peer);
        // 数据先到，信号后到。
        aclshmemx_mte_quiet();
        aclshmemx_signal_op(slot_of(flags, my_pe), magic, ACLSHMEM_SIGNAL_SET, peer);
    }
    tiles.end();
    // 各 AIV 等齐自己的那一段；kernel 结束时本 PE 的输出就完整了。
    for (int peer = 0; peer < n_pes; ++peer) {
        aclshmem_signal_wait_until(slot_of(flags, peer), ACLSHMEM_CMP_GE, magic);
    }
}

@% include 'parts/launch.cpp' %@
