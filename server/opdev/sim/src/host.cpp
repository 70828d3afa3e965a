// The host side of ACLSHMEM: life cycle, symmetric heap, calls on streams.
#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "allocations.h"
#include "opdev_sim/order.h"
#include "opdev_sim/signal.h"
#include "opdev_sim/wait.h"
#include "shared.h"
#include "shmem.h"
#include "stream.h"

using namespace opdev_sim;

namespace {

// What the PEs of one run agree on without talking: the run id, the endpoint or unique id, and the user.
std::string session_name(aclshmemx_bootstrap_t mode, const aclshmemx_init_attr_t &a)
{
    std::string text = "opdev-sim/" + std::to_string(getuid()) + "/" + environment("OPDEV_SIM_RUN", "") + "/" + std::to_string(a.instance_id) + "/";
    bool by_id = mode == ACLSHMEMX_INIT_WITH_UNIQUEID || (a.ip_port[0] == '\0' && a.comm_args != nullptr && mode != ACLSHMEMX_INIT_WITH_MPI);
    if (by_id && a.comm_args != nullptr) {
        text += static_cast<const aclshmemx_uniqueid_t *>(a.comm_args)->internal;
    } else if (mode == ACLSHMEMX_INIT_WITH_MPI) {
        text += environment("PMIX_NAMESPACE", environment("OMPI_MCA_ess_base_jobid", environment("SLURM_JOB_ID", "mpi")));
    } else {
        text += std::string(a.ip_port, strnlen(a.ip_port, sizeof a.ip_port));
    }
    // Socket names are short; two long ones must not become one.
    if (text.size() > 100) text = text.substr(0, 60) + "#" + std::to_string(std::hash<std::string>{}(text));
    return text;
}

}  // namespace

int aclshmemx_init_status() { return world.session ? ACLSHMEM_STATUS_IS_INITIALIZED : ACLSHMEM_STATUS_NOT_INITIALIZED; }

int aclshmemx_init_attr(aclshmemx_bootstrap_t mode, aclshmemx_init_attr_t *a, Site at)
{
    current().site = at;
    if (a == nullptr) return ACLSHMEM_INVALID_PARAM;
    if (a->n_pes < 1 || a->my_pe < 0 || a->my_pe >= a->n_pes || a->local_mem_size == 0 || a->local_mem_size > ACLSHMEM_MAX_LOCAL_SIZE)
        return ACLSHMEM_INVALID_VALUE;
    if (mode != ACLSHMEMX_INIT_WITH_DEFAULT && mode != ACLSHMEMX_INIT_WITH_MPI && mode != ACLSHMEMX_INIT_WITH_UNIQUEID) return ACLSHMEM_INVALID_PARAM;
    if (a->n_pes > max_pes)
        fault(kind::unsupported, at, "%d PEs: the stand-in runs at most %d", "%d 个 PE：模拟环境最多支持 %d 个", a->n_pes, max_pes);
    if (world.session)
        fault(kind::unsupported, at, "not in the stand-in: instance %llu beside instance %llu: it has one instance a process at a time (finalize the first one before)",
              "not in the stand-in：实例 %llu 与实例 %llu 同时存在，模拟环境每个进程同一时间只支持一个实例（应先结束前一个）",
              static_cast<unsigned long long>(a->instance_id), static_cast<unsigned long long>(world.instance));
    unsigned bits = static_cast<unsigned>(a->option_attr.data_op_engine_type);
    world.default_engine = (bits & ACLSHMEM_DATA_OP_MTE) != 0 || bits == 0 ? mte
                           : (bits & ACLSHMEM_DATA_OP_SDMA) != 0           ? sdma
                           : (bits & ACLSHMEM_DATA_OP_UDMA) != 0           ? udma
                                                                           : rdma;
    uint32_t seconds = a->option_attr.shm_init_timeout != 0 ? a->option_attr.shm_init_timeout : DEFAULT_TIMEOUT;
    int limit = timeout_seconds();
    if (!join_session(session_name(mode, *a).c_str(), a->my_pe, a->n_pes, a->local_mem_size,
                      static_cast<int>(seconds) < limit ? static_cast<int>(seconds) : limit))
        return ACLSHMEM_SMEM_ERROR;
    world.instance = a->instance_id;
    pe_barrier(control_team, "aclshmemx_init_attr", at);
    return ACLSHMEM_SUCCESS;
}

int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t *id)
{
    if (id == nullptr) return ACLSHMEM_INVALID_PARAM;
    memset(id, 0, sizeof *id);
    id->version = ACLSHMEM_UNIQUEID_VERSION;
    unsigned char random[16] = {};
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && read(fd, random, sizeof random) == static_cast<ssize_t>(sizeof random);
    if (fd >= 0) close(fd);
    if (!ok) return ACLSHMEM_INNER_ERROR;
    for (size_t i = 0; i < sizeof random; i++) snprintf(id->internal + 2 * i, 3, "%02x", random[i]);
    return ACLSHMEM_SUCCESS;
}

int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size, aclshmemx_uniqueid_t *id, aclshmemx_init_attr_t *a)
{
    if (id == nullptr || a == nullptr) return ACLSHMEM_INVALID_PARAM;
    id->my_pe = my_pe;
    id->n_pes = n_pes;
    a->my_pe = my_pe;
    a->n_pes = n_pes;
    a->local_mem_size = static_cast<uint64_t>(local_mem_size);
    a->comm_args = id;
    return ACLSHMEM_SUCCESS;
}

int aclshmem_finalize(Site at)
{
    current().site = at;
    if (!world.session) return ACLSHMEM_SUCCESS;
    drain_streams();
    complete(mte);
    leftover_checks();
    heap_end_checks();
    pe_barrier(control_team, "aclshmem_finalize", at);
    leave_session();
    return ACLSHMEM_SUCCESS;
}
int aclshmemx_finalize(uint64_t instance, Site at)
{
    return world.session && instance != world.instance ? ACLSHMEM_INVALID_PARAM : aclshmem_finalize(at);
}
int aclshmemx_instance_ctx_set(uint64_t instance, Site at)
{
    uint64_t there = world.session ? world.instance : 0;
    if (instance != there)
        fault(kind::unsupported, at, "not in the stand-in: instance %llu beside instance %llu: it has one instance a process at a time",
              "not in the stand-in：实例 %llu 与实例 %llu 同时存在，模拟环境每个进程同一时间只支持一个实例", static_cast<unsigned long long>(instance),
              static_cast<unsigned long long>(there));
    return ACLSHMEM_SUCCESS;
}
void aclshmem_global_exit(int status)
{
    if (world.session) {
        uint32_t nobody = 0;
        world.control->dying.compare_exchange_strong(nobody, static_cast<uint32_t>(world.pe) + 1);
    }
    die(status);
}
void aclshmem_info_get_version(int *major, int *minor)
{
    if (major != nullptr) *major = 1;
    if (minor != nullptr) *minor = 0;
}
void aclshmem_info_get_name(char *name)
{
    if (name != nullptr) strcpy(name, "opdev CPU stand-in");
}

void *aclshmem_malloc(size_t size, Site at) { return symmetric_allocate(1, size, 512, at); }
void *aclshmem_calloc(size_t count, size_t size, Site at)
{
    if (size != 0 && count > SIZE_MAX / size) return nullptr;
    void *p = symmetric_allocate(2, count * size, 512, at);
    if (p == nullptr) return nullptr;
    memset(p, 0, count * size);
    pe_barrier(control_team, "aclshmem_calloc", at);
    return p;
}
void *aclshmem_align(size_t alignment, size_t size, Site at)
{
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
    return symmetric_allocate(3, size, alignment < 512 ? 512 : alignment, at);
}
void aclshmem_free(void *p, Site at) { symmetric_free(p, at); }
void *aclshmemx_get_heap_base(aclshmem_mem_type_t) { return world.session ? world.heaps + static_cast<uint64_t>(world.pe) * world.stride : nullptr; }
void *aclshmem_ptr(void *p, int pe)
{
    if (!world.session || pe < 0 || pe >= world.pes || owner(p) != world.pe) return nullptr;
    auto own = world.heaps + static_cast<uint64_t>(world.pe) * world.stride;
    return world.heaps + static_cast<uint64_t>(pe) * world.stride + (static_cast<uint8_t *>(p) - own);
}

void aclshmemx_putmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe, aclrtStream stream, Site at)
{
    stream_of(stream).push([=] { aclshmem_putmem(dst, src, bytes, pe, at); });
}
void aclshmemx_getmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe, aclrtStream stream, Site at)
{
    stream_of(stream).push([=] { aclshmem_getmem(dst, src, bytes, pe, at); });
}
void aclshmemx_quiet_on_stream(aclrtStream stream)
{
    stream_of(stream).push([] { complete_all_leftovers(); });
}
void aclshmemx_handle_wait(aclshmem_handle_t, aclrtStream stream) { aclshmemx_quiet_on_stream(stream); }
void aclshmemx_signal_op_on_stream(int32_t *signal, int32_t value, int op, int pe, aclrtStream stream, Site at)
{
    stream_of(stream).push([=] { signal_op(signal, value, op, pe, "aclshmemx_signal_op_on_stream", at); });
}
void aclshmemx_signal_wait_until_on_stream(int32_t *signal, int cmp, int32_t value, aclrtStream stream, Site at)
{
    stream_of(stream).push([=] { wait_until(signal, cmp, value, "aclshmemx_signal_wait_until_on_stream", at); });
}
void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream, Site at)
{
    stream_of(stream).push([=] {
        complete_all_leftovers();
        pe_barrier(team, "aclshmemx_barrier_on_stream", at);
    });
}
void aclshmemx_barrier_all_on_stream(aclrtStream stream, Site at) { aclshmemx_barrier_on_stream(ACLSHMEM_TEAM_WORLD, stream, at); }
