// SPDX-License-Identifier: Apache-2.0
@% if open %@
// @{ op }@：由模板起头。下面的 @{ op }@_impl 只是环上移位，须按 docs/design.md 的 schedule 换成设计里的算法。
@% else %@
// @{ op }@：把本 PE 的数据写给下一个 PE，等上一个 PE 的数据到齐。
// 换成自己的算法时只改 @{ op }@_impl：切分、分块搬运、信号、启动都可以照用。
@% endif %@
@% include 'parts/kernel_head.cpp' %@
@% include 'parts/tiles.cpp' %@

@% include 'parts/share.cpp' %@

@% include 'parts/slot.cpp' %@

@% set directions = ['put'] %@
@% include 'parts/copy_tiles.cpp' %@

@% if open %@
#error "[待填] 按 docs/design.md 的 schedule 写 @{ op }@_impl，写完删掉这一行"

@% endif %@
template <typename T>
@{ ('ACLSHMEM_DEVICE void ' ~ op ~ '_impl(') | parameters(['GM_ADDR input', 'GM_ADDR output', 'GM_ADDR flags', 'int64_t elements', 'int32_t magic'], ')') }@
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const int next = (my_pe + 1) % n_pes;
    const int previous = (my_pe + n_pes - 1) % n_pes;
    const Share mine = share_of(elements);
    __gm__ T *source = reinterpret_cast<__gm__ T *>(input) + mine.offset;
    __gm__ T *target = reinterpret_cast<__gm__ T *>(output) + mine.offset;

    // 所有 PE 都进入这一轮，才能覆盖它们的输出：上一轮的结果可能还在被读取。
    aclshmem_barrier_all();
    TilePipe<T> tiles;
    tiles.begin();
    tiles.put(target, source, mine.length, next);
    // 数据先到，信号后到。
    aclshmemx_mte_quiet();
    aclshmemx_signal_op(slot_of(flags, my_pe), magic, ACLSHMEM_SIGNAL_SET, next);
    tiles.end();
    // 各 AIV 等到自己的那一段；kernel 结束时本 PE 的输出就完整了。
    aclshmem_signal_wait_until(slot_of(flags, previous), ACLSHMEM_CMP_GE, magic);
}

@% include 'parts/launch.cpp' %@
