// 一个 AIV 分到的一段，单位是元素。
struct Share {
    int64_t offset;
    int64_t length;
};

// 均匀切分：前 extra 个 AIV 各多一个元素，没有哪个 AIV 独自承担余数。
ACLSHMEM_DEVICE Share share_of(int64_t elements)
{
    const int64_t aiv_num = GetBlockNum();
    const int64_t aiv_idx = GetBlockIdx();
    const int64_t base = elements / aiv_num;
    const int64_t extra = elements % aiv_num;
    return Share{aiv_idx * base + (aiv_idx < extra ? aiv_idx : extra), base + (aiv_idx < extra ? 1 : 0)};
}
