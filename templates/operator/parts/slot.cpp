// source 号 PE 的同号 AIV 用的信号；一个信号独占一条缓存行。
ACLSHMEM_DEVICE __gm__ int32_t *slot_of(GM_ADDR flags, int source)
{
    return reinterpret_cast<__gm__ int32_t *>(flags) +
           (source * GetBlockNum() + GetBlockIdx()) * @{ OP }@_FLAG_INTERVAL;
}
