// SPDX-License-Identifier: Apache-2.0
// @{ op }@：AIV 按对端分组，组内平分一次传输；长度可变，为 0 时只发信号。
@% include 'parts/kernel_head.cpp' %@
@% include 'parts/tiles.cpp' %@

// 一组 AIV 里的一个：第几组、共几组，组内第几个、共几个。
struct Worker {
    int64_t group;
    int64_t groups;
    int64_t idx;
    int64_t size;
};

// AIV 比 PE 少时一组一个 AIV，轮流服务多个对端。
ACLSHMEM_DEVICE Worker worker_of(int n_pes)
{
    const int64_t aiv_num = GetBlockNum();
    const int64_t aiv_idx = GetBlockIdx();
    const int64_t size = aiv_num > n_pes ? aiv_num / n_pes : 1;
    const int64_t groups = aiv_num / size < n_pes ? aiv_num / size : n_pes;
    return Worker{aiv_idx / size, groups, aiv_idx % size, size};
}

// source 号 PE 的组内同号 AIV 用的信号；一个信号独占一条缓存行。
ACLSHMEM_DEVICE __gm__ int32_t *slot_of(GM_ADDR flags, int64_t source, const Worker &me)
{
    return reinterpret_cast<__gm__ int32_t *>(flags) +
           (source * me.size + me.idx) * @{ OP }@_FLAG_INTERVAL;
}

@% set directions = ['put'] %@
@% include 'parts/copy_tiles.cpp' %@

template <typename T>
@{ ('ACLSHMEM_DEVICE void ' ~ op ~ '_impl(') | parameters(['GM_ADDR input', 'GM_ADDR output', 'GM_ADDR plan', 'GM_ADDR flags', 'int32_t magic'], ')') }@
{
    const int my_pe = aclshmem_my_pe();
    const int n_pes = aclshmem_n_pes();
    const Worker me = worker_of(n_pes);
    __gm__ @{ Op }@Plan *plans =
        reinterpret_cast<__gm__ @{ Op }@Plan *>(plan);

    // 所有 PE 都进入这一轮，才能覆盖它们的输出：上一轮的结果可能还在被读取。
    aclshmem_barrier_all();
    // 多出来的 AIV 没有数据要发，只参加同步。
    if (me.group < me.groups) {
        TilePipe<T> tiles;
        tiles.begin();
        for (int64_t turn = me.group; turn < n_pes; turn += me.groups) {
            // 各 PE 的第 0 组从不同的对端开始。
            const int peer = static_cast<int>((my_pe + 1 + turn) % n_pes);
            const int64_t count = plans[peer].count;
            const int64_t base = count / me.size;
            const int64_t extra = count % me.size;
            // 组内均匀切分，前 extra 个 AIV 各多一个元素。
            const int64_t offset = me.idx * base + (me.idx < extra ? me.idx : extra);
            const int64_t length = base + (me.idx < extra ? 1 : 0);
            tiles.put(reinterpret_cast<__gm__ T *>(output) + plans[peer].recv_offset + offset,
                      reinterpret_cast<__gm__ T *>(input) + plans[peer].send_offset + offset, length, peer);
            // 数据先到，信号后到；长度为 0 也要发，对端在等。
            aclshmemx_mte_quiet();
            aclshmemx_signal_op(slot_of(flags, my_pe, me), magic, ACLSHMEM_SIGNAL_SET, peer);
        }
        tiles.end();
        for (int64_t peer = me.group; peer < n_pes; peer += me.groups) {
            aclshmem_signal_wait_until(slot_of(flags, peer, me), ACLSHMEM_CMP_GE, magic);
        }
    }
}

@% include 'parts/launch.cpp' %@
