// The runtime's status type; cores are synchronised by the launch itself here.
#pragma once
#pragma GCC system_header

#include <cstdint>

using rtError_t = int32_t;
constexpr rtError_t RT_ERROR_NONE = 0;

inline rtError_t rtGetC2cCtrlAddr(uint64_t *address, uint32_t *length)
{
    *address = 0;
    *length = 0;
    return RT_ERROR_NONE;
}
