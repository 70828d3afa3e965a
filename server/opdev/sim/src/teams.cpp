// Teams.  A team has one entry in the control block, the same on all its members, found by what it consists of: the
// split is collective over the parent, so all PEs see the same sequence of them.

#include <memory>
#include <mutex>

#include "opdev_sim/launch.h"
#include "shared.h"
#include "shmem.h"

using namespace opdev_sim;

namespace {

const Team *find(aclshmem_team_t team)
{
    if (!world.session || team < 0 || team >= control_team) return nullptr;
    const Team &t = world.control->teams[team];
    return t.used.load() != 0 ? &t : nullptr;
}

// Number of a world PE in a team; -1 when it is no member.
int number_in(const Team &t, int pe)
{
    int i = (pe - t.start) / t.stride;
    return pe >= t.start && (pe - t.start) % t.stride == 0 && i < t.size ? i : -1;
}

// Splits come one after another over the same parent, but teams of other members may be made at the same time.
Word &teams_lock() { return world.control->teams[max_teams - 1].used; }

}  // namespace

int aclshmem_team_split_strided(aclshmem_team_t parent, int start, int stride, int size, aclshmem_team_t *team)
{
    if (team == nullptr) return ACLSHMEM_INVALID_PARAM;
    *team = ACLSHMEM_TEAM_INVALID;
    const Team *p = find(parent);
    if (p == nullptr || start < 0 || start >= p->size || size <= 0 || size > p->size || stride < 1) return ACLSHMEM_INVALID_PARAM;
    int world_start = p->start + start * p->stride;
    int world_stride = p->stride * stride;
    if (start + stride * (size - 1) >= p->size) return ACLSHMEM_INVALID_PARAM;
    // Everybody of the parent must be out of the last split before an entry is chosen for this one.
    pe_barrier(parent, "aclshmem_team_split_strided", {});
    int at = -1;
    {
        SharedLock lock(teams_lock());
        Control &c = *world.control;
        // The lowest member makes the entry; `arrived` of an entry in the making is not used by anybody else.
        for (int i = 1; i < control_team && at < 0; i++) {
            Team &t = c.teams[i];
            if (t.used.load() != 0 && t.start == world_start && t.stride == world_stride && t.size == size && t.making.load() != 0) at = i;
        }
        for (int i = 1; i < control_team && at < 0; i++)
            if (c.teams[i].used.load() == 0) {
                Team &t = c.teams[i];
                t.start = world_start;
                t.stride = world_stride;
                t.size = size;
                t.arrived.store(0);
                t.generation.store(0);
                for (Word &w : t.arrivals) w.store(0);
                t.making.store(static_cast<uint32_t>(p->size));
                t.members.store(static_cast<uint32_t>(size));
                t.used.store(1);
                at = i;
            }
        if (at > 0) c.teams[at].making.fetch_sub(1);
    }
    pe_barrier(parent, "aclshmem_team_split_strided", {});
    if (at < 0) return ACLSHMEM_INNER_ERROR;
    if (number_in(world.control->teams[at], world.pe) >= 0) *team = at;
    return ACLSHMEM_SUCCESS;
}

int aclshmem_team_split_2d(aclshmem_team_t parent, int x_range, aclshmem_team_t *x_team, aclshmem_team_t *y_team)
{
    if (x_team == nullptr || y_team == nullptr || x_range <= 0) return ACLSHMEM_INVALID_PARAM;
    *x_team = ACLSHMEM_TEAM_INVALID;
    *y_team = ACLSHMEM_TEAM_INVALID;
    const Team *p = find(parent);
    if (p == nullptr) return ACLSHMEM_INVALID_PARAM;
    int size = p->size;
    if (x_range > size) x_range = size;
    // Rows of x_range neighbours, the last perhaps shorter; columns of those with the same place in their row.
    for (int start = 0; start < size; start += x_range) {
        aclshmem_team_t t = ACLSHMEM_TEAM_INVALID;
        int rc = aclshmem_team_split_strided(parent, start, 1, size - start < x_range ? size - start : x_range, &t);
        if (rc != ACLSHMEM_SUCCESS) return rc;
        if (t != ACLSHMEM_TEAM_INVALID) *x_team = t;
    }
    for (int column = 0; column < x_range; column++) {
        aclshmem_team_t t = ACLSHMEM_TEAM_INVALID;
        int rc = aclshmem_team_split_strided(parent, column, x_range, (size - column + x_range - 1) / x_range, &t);
        if (rc != ACLSHMEM_SUCCESS) return rc;
        if (t != ACLSHMEM_TEAM_INVALID) *y_team = t;
    }
    return ACLSHMEM_SUCCESS;
}

void aclshmem_team_destroy(aclshmem_team_t team)
{
    if (team <= 0 || find(team) == nullptr) return;
    Team &t = world.control->teams[team];
    SharedLock lock(teams_lock());
    if (t.members.fetch_sub(1) == 1) t.used.store(0);
}

int aclshmem_team_my_pe(aclshmem_team_t team)
{
    const Team *t = find(team);
    return t != nullptr ? number_in(*t, world.pe) : -1;
}

int aclshmem_team_n_pes(aclshmem_team_t team)
{
    const Team *t = find(team);
    return t != nullptr ? t->size : -1;
}

int aclshmem_team_pe_mapping(aclshmem_team_t team, int pe)
{
    const Team *t = find(team);
    return t != nullptr && pe >= 0 && pe < t->size ? t->start + pe * t->stride : -1;
}

int aclshmem_team_translate_pe(aclshmem_team_t from, int pe, aclshmem_team_t to)
{
    int in_world = aclshmem_team_pe_mapping(from, pe);
    const Team *t = find(to);
    return in_world >= 0 && t != nullptr ? number_in(*t, in_world) : -1;
}

int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t *config)
{
    if (find(team) == nullptr || config == nullptr) return ACLSHMEM_INVALID_PARAM;
    *config = aclshmem_team_config_t{};
    return ACLSHMEM_SUCCESS;
}

// The record is written once for a team: a kernel keeps the pointer while others ask.
aclshmem_device_host_state_t *aclshmemi_get_state()
{
    static std::mutex lock;
    static std::unique_ptr<aclshmemx_team_t> records[max_teams];
    static aclshmem_device_host_state_t state{};
    std::lock_guard<std::mutex> guard(lock);
    state.mype = world.pe;
    state.npes = world.pes;
    for (int i = 0; i < control_team; i++) {
        const Team *t = find(i);
        int own = t != nullptr ? number_in(*t, world.pe) : -1;
        if (own < 0) {
            state.team_pools[i] = nullptr;
            continue;
        }
        auto &record = records[i];
        if (record == nullptr) record = std::make_unique<aclshmemx_team_t>();
        if (record->size != t->size || record->start != t->start || record->stride != t->stride || record->mype != own) {
            record->mype = own;
            record->start = t->start;
            record->stride = t->stride;
            record->size = t->size;
            record->team_idx = i;
            for (int pe = 0; pe < ACLSHMEM_MAX_PES; pe++) record->pe_mapping[ACLSHMEM_MAX_PES + pe] = -1;
            for (int pe = 0; pe < t->size; pe++) {
                int in_world = t->start + pe * t->stride;
                record->pe_mapping[pe] = in_world;
                record->pe_mapping[ACLSHMEM_MAX_PES + in_world] = pe;
            }
        }
        state.team_pools[i] = record.get();
    }
    return &state;
}
