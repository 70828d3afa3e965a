// The host side of ACLSHMEM: life cycle, symmetric heap, teams, stream calls, profile.
#pragma once
#include "acl/acl.h"
#include "opdev_sim/heap.h"
#include "opdev_sim/launch.h"
#include "opdev_sim/report.h"
#include "opdev_sim/shmem/types.h"

int aclshmemx_init_status();
int aclshmemx_init_attr(aclshmemx_bootstrap_t mode, aclshmemx_init_attr_t *attributes, opdev_sim::Site at = opdev_sim::here());
int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t *id);
int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size, aclshmemx_uniqueid_t *id, aclshmemx_init_attr_t *attributes);
int aclshmem_finalize(opdev_sim::Site at = opdev_sim::here());
int aclshmemx_finalize(uint64_t instance, opdev_sim::Site at = opdev_sim::here());
[[noreturn]] void aclshmem_global_exit(int status);
void aclshmem_info_get_version(int *major, int *minor);
void aclshmem_info_get_name(char *name);
// TLS and log settings are accepted and mean nothing here.
inline int32_t aclshmemx_set_conf_store_tls(bool, const char *, uint32_t) { return 0; }
inline int32_t aclshmemx_set_config_store_tls_key(const char *, uint32_t, const char *, uint32_t, aclshmem_decrypt_handler) { return 0; }
inline int32_t aclshmemx_set_extern_logger(void (*)(int, const char *)) { return 0; }
inline int32_t aclshmemx_set_log_level(int) { return 0; }
// One instance per process.
int aclshmemx_instance_ctx_set(uint64_t instance, opdev_sim::Site at = opdev_sim::here());

void *aclshmem_malloc(size_t size, opdev_sim::Site at = opdev_sim::here());
void *aclshmem_calloc(size_t count, size_t size, opdev_sim::Site at = opdev_sim::here());
void *aclshmem_align(size_t alignment, size_t size, opdev_sim::Site at = opdev_sim::here());
void aclshmem_free(void *p, opdev_sim::Site at = opdev_sim::here());
// Both sides lie in the one heap.
inline void *aclshmemx_malloc(size_t size, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { return aclshmem_malloc(size, at); }
inline void *aclshmemx_calloc(size_t n, size_t size, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { return aclshmem_calloc(n, size, at); }
inline void *aclshmemx_align(size_t a, size_t size, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { return aclshmem_align(a, size, at); }
inline void aclshmemx_free(void *p, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { aclshmem_free(p, at); }
void *aclshmemx_get_heap_base(aclshmem_mem_type_t = DEVICE_SIDE);
// nullptr for a PE that is not there or an address that is not symmetric.
void *aclshmem_ptr(void *p, int pe);
inline void *aclshmem_roce_ptr(void *p, int pe) { return aclshmem_ptr(p, pe); }

int aclshmem_team_split_strided(aclshmem_team_t parent, int start, int stride, int size, aclshmem_team_t *team);
int aclshmem_team_split_2d(aclshmem_team_t parent, int x_range, aclshmem_team_t *x_team, aclshmem_team_t *y_team);
void aclshmem_team_destroy(aclshmem_team_t team);
int aclshmem_team_my_pe(aclshmem_team_t team);
int aclshmem_team_n_pes(aclshmem_team_t team);
int aclshmem_team_translate_pe(aclshmem_team_t from, int pe, aclshmem_team_t to);
int aclshmem_team_pe_mapping(aclshmem_team_t team, int pe);
int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t *config);
inline int aclshmem_my_pe() { return opdev_sim::my_pe(); }
inline int aclshmem_n_pes() { return opdev_sim::n_pes(); }

void aclshmemx_putmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
void aclshmemx_getmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
void aclshmemx_quiet_on_stream(aclrtStream stream);
void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream);
void aclshmemx_signal_op_on_stream(int32_t *signal, int32_t value, int op, int pe, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
void aclshmemx_signal_wait_until_on_stream(int32_t *signal, int cmp, int32_t value, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
void aclshmemx_barrier_all_on_stream(aclrtStream stream, opdev_sim::Site at = opdev_sim::here());

void aclshmemx_get_prof(aclshmem_prof_pe_t **out, bool verbose);
void aclshmemx_show_prof();
inline uint64_t util_get_ffts_config() { return 1; }
inline void util_set_ffts_config(uint64_t) {}
