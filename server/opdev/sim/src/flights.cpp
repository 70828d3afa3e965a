// See flights.h.
#include "flights.h"

#include <cstdio>

#include "opdev_sim/heap.h"

namespace opdev_sim {

namespace {

// Memory that only this process has is named by its address and listed with this PE.
bool place(const void *p, int *pe, uint64_t *begin, bool *is_private)
{
    if (in_ub(p)) return false;
    int of = mapped(p) ? owner(p) : -1;
    *is_private = of < 0;
    *pe = of < 0 ? world.pe : of;
    *begin = of < 0 ? reinterpret_cast<uint64_t>(p) : offset_of(p);
    return true;
}

bool overlaps(const Pending &f, uint64_t begin, uint64_t bytes)
{
    uint64_t end = begin + bytes;
    uint64_t stride = f.rows.rows > 1 ? f.rows.dst_stride : f.rows.length;
    uint64_t f_end = f.begin + (f.rows.rows - 1) * stride + f.rows.length;
    if (end <= f.begin || begin >= f_end) return false;
    if (f.rows.rows == 1 || stride <= f.rows.length) return true;
    // The row before or at `begin`, and the one after it.
    uint64_t row = begin > f.begin ? (begin - f.begin) / stride : 0;
    for (uint64_t r = row; r < f.rows.rows && r <= row + 1; r++) {
        uint64_t from = f.begin + r * stride;
        if (from < end && from + f.rows.length > begin) return true;
    }
    return false;
}

bool find(Pe &pe, uint64_t begin, uint64_t bytes, bool is_private, Pending *hit)
{
    if (pe.flight_count.load() == 0) return false;
    SharedLock lock(pe.flights_lock);
    for (uint32_t i = 0; i < pe.flight_top; i++) {
        const Pending &f = pe.flights[i];
        if (f.used == 0 || f.is_private != is_private || !overlaps(f, begin, bytes)) continue;
        *hit = f;
        return true;
    }
    return false;
}

}  // namespace

Flight take_off(Engine engine, const void *dst, const Rows &rows, int peer, const char *what, Site at)
{
    Flight result;
    uint64_t begin = 0;
    bool is_private = false;
    if (!place(dst, &result.pe, &begin, &is_private)) return result;
    Pe &pe = world.control->pe[result.pe];
    SharedLock lock(pe.flights_lock);
    uint32_t i = 0;
    if (pe.flight_count.load() == pe.flight_top) i = pe.flight_top;
    else
        while (i < pe.flight_top && pe.flights[i].used != 0) i++;
    if (i >= max_flights) return result;
    if (i == pe.flight_top) pe.flight_top = i + 1;
    Pending &f = pe.flights[i];
    f.used = 1;
    f.engine = engine;
    f.pe = world.pe;
    f.block = static_cast<int32_t>(current().block_idx);
    f.peer = peer;
    f.line = at.line;
    f.begin = begin;
    f.rows = rows;
    f.is_private = is_private;
    copy_text(f.file, sizeof f.file, at.file != nullptr ? base_name(at.file) : "-");
    copy_text(f.what, sizeof f.what, what);
    pe.flight_count.fetch_add(1);
    result.index = static_cast<int>(i);
    return result;
}

void land(const Flight &flight)
{
    if (flight.index < 0) return;
    Pe &pe = world.control->pe[flight.pe];
    SharedLock lock(pe.flights_lock);
    pe.flights[flight.index].used = 0;
    pe.flight_count.fetch_sub(1);
    while (pe.flight_top > 0 && pe.flights[pe.flight_top - 1].used == 0) pe.flight_top--;
}

bool in_flight(const void *p, uint64_t bytes, Pending *hit)
{
    int pe = 0;
    uint64_t begin = 0;
    bool is_private = false;
    return place(p, &pe, &begin, &is_private) && find(world.control->pe[pe], begin, bytes, is_private, hit);
}

bool pending_over(uint64_t offset, uint64_t bytes, char *room, size_t size)
{
    Pending f;
    int of = owner(world.mapping + offset);
    if (of < 0 || !find(world.control->pe[of], offset, bytes, false, &f)) return false;
    snprintf(room, size, "%s (PE %d:%d, %s:%d)", f.what, f.pe, f.block, f.file, f.line);
    return true;
}

}  // namespace opdev_sim
