// UB arenas for the blocks of a launch.
#pragma once
#include <cstdint>

namespace opdev_sim {

// Filled with 0xA5; the pages before and after it are not mapped.
uint8_t *take_arena();
void give_arena(uint8_t *arena);
void catch_bad_accesses();

}  // namespace opdev_sim
