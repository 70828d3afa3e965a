@# direction: put (本 PE 的 src 到 peer 的 dst) or get (peer 的 src 到本 PE 的 dst) #@
template <typename T>
ACLSHMEM_DEVICE void @{ direction }@_tiles(__gm__ T *dst, __gm__ T *src, int64_t count, int peer)
{
    __ubuf__ T *ping = reinterpret_cast<__ubuf__ T *>(UB_PING);
    __ubuf__ T *pong = reinterpret_cast<__ubuf__ T *>(UB_PONG);
    constexpr int64_t tile = UB_TILE_BYTES / sizeof(T);

    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    bool use_ping = true;
    for (int64_t done = 0; done < count; done += tile) {
        const int64_t left = count - done;
        const uint32_t now = static_cast<uint32_t>(left < tile ? left : tile);
        const TEventID event = use_ping ? EVENT_ID0 : EVENT_ID1;
        __ubuf__ T *buffer = use_ping ? ping : pong;
        WaitFlag<HardEvent::MTE3_MTE2>(event);
        aclshmemx_mte_@{ direction }@_nbi(dst + done, src + done, buffer, UB_TILE_BYTES, now, peer, event);
        SetFlag<HardEvent::MTE3_MTE2>(event);
        use_ping = !use_ping;
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
}
