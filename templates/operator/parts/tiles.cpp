// 两块 UB 轮换，各 64 KB，避开库自留的 188 KB 以上。
constexpr uint32_t UB_TILE_BYTES = 64 * 1024;
constexpr uint64_t UB_PING = 1024;
constexpr uint64_t UB_PONG = UB_PING + UB_TILE_BYTES;
