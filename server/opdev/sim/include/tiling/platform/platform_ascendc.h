// What host code asks about the chip: cores, and the size of their memories.
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "opdev_sim/context.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A, L0_B, L0_C, L1, L2, UB, HBM, RESERVED };

class PlatformAscendC {
public:
    uint32_t GetCoreNum() const { return 24; }
    uint32_t GetCoreNumAic() const { return 24; }
    uint32_t GetCoreNumAiv() const { return 48; }
    void GetCoreMemSize(const CoreMemType &type, uint64_t &bytes) const
    {
        switch (type) {
            case CoreMemType::UB: bytes = opdev_sim::ub_bytes(); break;
            case CoreMemType::L1: bytes = 512 * 1024; break;
            case CoreMemType::L0_A:
            case CoreMemType::L0_B: bytes = 64 * 1024; break;
            case CoreMemType::L0_C: bytes = 128 * 1024; break;
            default: bytes = 0;
        }
    }
};

class PlatformAscendCManager {
public:
    static PlatformAscendC *GetInstance()
    {
        static PlatformAscendC chip;
        return &chip;
    }
    static PlatformAscendC *GetInstance(const char *) { return GetInstance(); }
};

}  // namespace platform_ascendc
