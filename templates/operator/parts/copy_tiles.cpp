@# directions: any of 'put' (本 PE 的 src 到 peer 的 dst) and 'get' (peer 的 src 到本 PE 的 dst) #@
// 经 UB 分块搬运。begin 与 end 之间可以连续搬多段：换段、换对端都不排空流水，完成与否由 quiet 决定。
template <typename T>
class TilePipe {
public:
    __aicore__ inline void begin()
    {
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }

@% for direction in directions %@
    // @{ '写 count 个元素到 peer' if direction == 'put' else '从 peer 读 count 个元素' }@，尾块按实际长度。
    __aicore__ inline void @{ direction }@(__gm__ T *dst, __gm__ T *src, int64_t count, int peer)
    {
        constexpr int64_t tile = UB_TILE_BYTES / sizeof(T);
        for (int64_t done = 0; done < count; done += tile) {
            const int64_t left = count - done;
            const uint32_t now = static_cast<uint32_t>(left < tile ? left : tile);
            const TEventID event = use_ping_ ? EVENT_ID0 : EVENT_ID1;
            __ubuf__ T *buffer = reinterpret_cast<__ubuf__ T *>(use_ping_ ? UB_PING : UB_PONG);
            // 这一块 UB 上次的数据搬出之后才能再用。
            WaitFlag<HardEvent::MTE3_MTE2>(event);
            aclshmemx_mte_@{ direction }@_nbi(dst + done, src + done, buffer, UB_TILE_BYTES, now, peer, event);
            SetFlag<HardEvent::MTE3_MTE2>(event);
            use_ping_ = !use_ping_;
        }
    }

@% endfor %@
    __aicore__ inline void end()
    {
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    }

private:
    bool use_ping_ = true;
};
