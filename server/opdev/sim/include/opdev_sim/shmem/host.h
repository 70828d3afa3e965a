// The host side of ACLSHMEM: life cycle, symmetric heap, teams, stream calls, profile.
#pragma once
#include "acl/acl.h"
#include "opdev_sim/heap.h"
#include "opdev_sim/launch.h"
#include "opdev_sim/report.h"
#include "opdev_sim/shmem/types.h"

/// 查询库当前所处的初始化阶段。
/// Tells which init stage the library is in (enum aclshmemx_init_status_t).
int aclshmemx_init_status();
/// 按指定引导方式启动库，所有 PE 都要调用。
/// Starts the library with the chosen bootstrap mode; collective over all PEs.
int aclshmemx_init_attr(aclshmemx_bootstrap_t mode, aclshmemx_init_attr_t *attributes, opdev_sim::Site at = opdev_sim::here());
/// 由根 PE 生成引导用唯一 ID，需分发给所有 PE。
/// Root PE creates the bootstrap unique id that all PEs must share.
int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t *id);
/// 用 PE 号、PE 总数、堆大小和唯一 ID 填好初始化属性。
/// Fills an init attribute struct from PE id, PE count, heap size and unique id.
int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size, aclshmemx_uniqueid_t *id, aclshmemx_init_attr_t *attributes);
/// 释放当前实例的资源，返回 int 状态码。
/// Releases the currently selected instance; returns an int status.
int aclshmem_finalize(opdev_sim::Site at = opdev_sim::here());
/// 按实例 ID 释放指定实例（多实例场景）。
/// Releases one instance chosen by id (multi-instance).
int aclshmemx_finalize(uint64_t instance, opdev_sim::Site at = opdev_sim::here());
/// 让所有 PE 进程以给定状态退出。
/// Asks every PE process to exit with the given status.
[[noreturn]] void aclshmem_global_exit(int status);
/// 取得主、次版本号。
/// Gives the major and minor version numbers.
void aclshmem_info_get_version(int *major, int *minor);
/// 把厂商名称字符串写入缓冲区。
/// Copies the vendor name string into the buffer (256 bytes max).
void aclshmem_info_get_name(char *name);
// TLS and log settings are accepted and mean nothing here.
/// 开关配置通道 TLS，须在初始化前调用。
/// Switches TLS of the config store on or off; call before init.
inline int32_t aclshmemx_set_conf_store_tls(bool, const char *, uint32_t) { return 0; }
/// 设置配置通道 TLS 私钥、口令与解密回调，须在初始化前调用。
/// Hands over TLS private key, its password and a decrypt callback; call before init.
inline int32_t aclshmemx_set_config_store_tls_key(const char *, uint32_t, const char *, uint32_t, aclshmem_decrypt_handler) { return 0; }
/// 把库日志转交给用户回调。
/// Routes library log lines to a user callback.
inline int32_t aclshmemx_set_extern_logger(void (*)(int, const char *)) { return 0; }
/// 设置日志级别 0–3（debug/info/warn/error）。
/// Sets log threshold: 0 debug, 1 info, 2 warn, 3 error.
inline int32_t aclshmemx_set_log_level(int) { return 0; }
// One instance a process at a time.
/// 核函数侧切换实例（需 MULTI_INSTANCE 宏），声明在 src 内。
/// Kernel-side instance selection (needs MULTI_INSTANCE); declared in src, not in include.
int aclshmemx_instance_ctx_set(uint64_t instance, opdev_sim::Site at = opdev_sim::here());

/// 在对称堆上分配（字节），所有 PE 须同序同量；大小为 0 返回空。
/// Collective allocation on the symmetric heap (bytes); null for size 0.
void *aclshmem_malloc(size_t size, opdev_sim::Site at = opdev_sim::here());
/// 对称堆上分配并清零（个数×单个字节数）。
/// Collective zero-filled symmetric allocation (count x size).
void *aclshmem_calloc(size_t count, size_t size, opdev_sim::Site at = opdev_sim::here());
/// 按 2 的幂对齐在对称堆上分配。
/// Collective symmetric allocation with a power-of-two alignment.
void *aclshmem_align(size_t alignment, size_t size, opdev_sim::Site at = opdev_sim::here());
/// 归还对称内存块，无返回值，传空指针无动作。
/// Gives a symmetric block back; void; null is ignored.
void aclshmem_free(void *p, opdev_sim::Site at = opdev_sim::here());
// Both sides lie in the one heap.
/// 可选 Host/Device 侧的对称分配。
/// Symmetric allocation on host or device side.
inline void *aclshmemx_malloc(size_t size, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { return aclshmem_malloc(size, at); }
/// 可选 Host/Device 侧的清零对称分配。
/// Zero-filled symmetric allocation on host or device side.
inline void *aclshmemx_calloc(size_t n, size_t size, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { return aclshmem_calloc(n, size, at); }
/// 可选 Host/Device 侧的对齐对称分配。
/// Aligned symmetric allocation on host or device side.
inline void *aclshmemx_align(size_t a, size_t size, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { return aclshmem_align(a, size, at); }
/// 释放指定侧的对称内存。
/// Frees symmetric memory of the stated side.
inline void aclshmemx_free(void *p, aclshmem_mem_type_t = DEVICE_SIDE, opdev_sim::Site at = opdev_sim::here()) { aclshmem_free(p, at); }
/// 返回本地对称堆基址，未初始化时为空。
/// Base address of the local symmetric heap; null before init.
void *aclshmemx_get_heap_base(aclshmem_mem_type_t = DEVICE_SIDE);
// nullptr for a PE that is not there or an address that is not symmetric.
/// 把本地对称地址换成目标 PE 上可直接访问的地址。
/// Maps a local symmetric address to the peer address for direct access.
void *aclshmem_ptr(void *p, int pe);
/// 把本地对称地址换成 RDMA 用的目标地址。
/// Maps a local symmetric address to the peer address used by RDMA.
inline void *aclshmem_roce_ptr(void *p, int pe) { return aclshmem_ptr(p, pe); }

/// 集合调用：按起点/步长/大小从父 team 切出新 team。
/// Collective: makes a team from start/stride/size of a parent team.
int aclshmem_team_split_strided(aclshmem_team_t parent, int start, int stride, int size, aclshmem_team_t *team);
/// 集合调用：按二维网格切成行、列 team。
/// Collective: splits a team into row and column teams.
int aclshmem_team_split_2d(aclshmem_team_t parent, int x_range, aclshmem_team_t *x_team, aclshmem_team_t *y_team);
/// 集合调用：销毁 team。
/// Collective: drops a team.
void aclshmem_team_destroy(aclshmem_team_t team);
/// 本 PE 在 team 内的编号。
/// PE number inside the given team.
int aclshmem_team_my_pe(aclshmem_team_t team);
/// team 内 PE 数。
/// PE count of the given team.
int aclshmem_team_n_pes(aclshmem_team_t team);
/// 把 PE 号从一个 team 换算到另一个 team，无效返回 -1。
/// Maps a PE number of one team to its number in another team; -1 when not a member.
int aclshmem_team_translate_pe(aclshmem_team_t from, int pe, aclshmem_team_t to);
/// 把 team 内 PE 号映射为全局 PE 号。
/// Maps a team PE number to the world PE number.
int aclshmem_team_pe_mapping(aclshmem_team_t team, int pe);
/// 取回创建 team 时的配置。
/// Reads back the config given when the team was made.
int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t *config);
aclshmem_device_host_state_t *aclshmemi_get_state();
/// 本 PE 编号。
/// Number of the calling PE.
inline int aclshmem_my_pe() { return opdev_sim::my_pe(); }
/// 参与的 PE 总数。
/// How many PEs take part.
inline int aclshmem_n_pes() { return opdev_sim::n_pes(); }

/// 在流上排入写远端；有 HCCS 走 MTE，否则走 RDMA。
/// Put queued on a stream; MTE when HCCS links, else RDMA.
void aclshmemx_putmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
/// 在流上排入读远端；有 HCCS 走 MTE，否则走 RDMA。
/// Get queued on a stream; MTE when HCCS links, else RDMA.
void aclshmemx_getmem_on_stream(void *dst, void *src, size_t bytes, int32_t pe, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
/// 在流上排入 quiet，Host 侧还需同步该流。
/// Queues a quiet on a stream; host must then sync the stream.
void aclshmemx_quiet_on_stream(aclrtStream stream);
/// 在流上等待某 team 句柄的异步 RMA 完成。
/// Queues a wait for async RMA of a team handle on a stream.
void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream);
/// 在流上更新远端信号，ADD 不支持 RDMA 跨机。
/// Queues a SET/ADD on a peer signal; ADD cannot cross machines over RDMA.
void aclshmemx_signal_op_on_stream(int32_t *signal, int32_t value, int op, int pe, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
/// 在流上等待本地信号满足条件。
/// Queues a wait on a local signal on a stream.
void aclshmemx_signal_wait_until_on_stream(int32_t *signal, int cmp, int32_t value, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
/// 在流上排入 team 栅栏。
/// Queues a team barrier on a stream.
void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream, opdev_sim::Site at = opdev_sim::here());
/// 在流上排入全体栅栏。
/// Queues a world barrier on a stream.
void aclshmemx_barrier_all_on_stream(aclrtStream stream, opdev_sim::Site at = opdev_sim::here());

/// 取回周期打点数据，可选择打印表格。
/// Reads cycle counters back and optionally prints the table.
void aclshmemx_get_prof(aclshmem_prof_pe_t **out, bool verbose);
/// 旧接口：打印周期打点表。
/// Old call that prints the cycle table.
void aclshmemx_show_prof();
inline uint64_t util_get_ffts_config() { return 1; }
inline void util_set_ffts_config(uint64_t) {}
