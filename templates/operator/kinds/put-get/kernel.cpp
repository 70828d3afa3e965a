// SPDX-License-Identifier: Apache-2.0
// @{ op }@：把本 PE 的数据写给下一个 PE，同时从下一个 PE 读回它的数据。
@% include 'parts/kernel_head.cpp' %@
@% include 'parts/tiles.cpp' %@

// 信号的两种用途：数据已写到；数据已读走。
constexpr int ARRIVED = 0;
constexpr int TAKEN = 1;

@% include 'parts/share.cpp' %@

@% include 'parts/slot.cpp' %@

@% set directions = ['put', 'get'] %@
@% include 'parts/copy_tiles.cpp' %@

template <typename T>
@{ ('ACLSHMEM_DEVICE void ' ~ op ~ '_impl(') | parameters(['GM_ADDR input', 'GM_ADDR output', 'GM_ADDR flags', 'int64_t elements', 'int32_t magic'], ')') }@
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const int next = (my_pe + 1) % n_pes;
    const Share mine = share_of(elements);
    __gm__ T *source = reinterpret_cast<__gm__ T *>(input) + mine.offset;
    __gm__ T *put_row = reinterpret_cast<__gm__ T *>(output) + mine.offset;
    __gm__ T *get_row = put_row + elements;

    // 所有 PE 都进入这一轮：对端的输入已就绪，对端的输出可以覆盖。
    aclshmem_barrier_all();
    TilePipe<T> tiles;
    tiles.begin();
    tiles.put(put_row, source, mine.length, next);
    // 数据先到，信号后到。
    aclshmemx_mte_quiet();
    aclshmemx_signal_op(slot_of(flags, ARRIVED), magic, ACLSHMEM_SIGNAL_SET, next);

    tiles.get(get_row, source, mine.length, next);
    aclshmemx_mte_quiet();
    aclshmemx_signal_op(slot_of(flags, TAKEN), magic, ACLSHMEM_SIGNAL_SET, next);

    tiles.end();

    // 上一个 PE 写完了给我的一行，也读完了我的输入：输出完整，输入可以改写。
    aclshmem_signal_wait_until(slot_of(flags, ARRIVED), ACLSHMEM_CMP_GE, magic);
    aclshmem_signal_wait_until(slot_of(flags, TAKEN), ACLSHMEM_CMP_GE, magic);
}

@% include 'parts/launch.cpp' %@
