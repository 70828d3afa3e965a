// Types and constants of the ACLSHMEM interface, with the library's names and values.
#pragma once
#include <cstddef>
#include <cstdint>

#define ACLSHMEM_DEVICE inline
#define ACLSHMEM_HOST_API
#define ACLSHMEM_GLOBAL
#define ACLSHMEM_GLOBAL_VECTOR
#define ACLSHMEM_MAX_PES 16384
#define ACLSHMEM_MAX_TEAMS 2048
#define ACLSHMEM_MAX_IP_PORT_LEN 64
#define ACLSHMEM_UNIQUE_ID_INNER_LEN 124
#define ACLSHMEM_MAX_LOCAL_SIZE (40UL * 1024 * 1024 * 1024)
#define ACLSHMEM_SIGNAL_SIZE 8
#define ACLSHMEM_SYNCBIT_SIZE 64
#define ACLSHMEM_MAX_AIV_PER_NPU 48
#define ACLSHMEM_PAGE_SIZE (1024UL * 1024UL * 2)
#define ACLSHMEM_SDMA_FLAG_LENGTH 64
#define ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE 128U
#define ACLSHMEM_RDMA_MTE_STAGING_UB_SIZE 128U
#define ACLSHMEM_CYCLE_PROF_MAX_BLOCK 64
#define ACLSHMEM_CYCLE_PROF_FRAME_CNT 1024
#define SCALAR_DATA_CACHELINE_SIZE 64
#define L2_CACHELINE_SIZE 512
#define TEAM_CONFIG_PADDING 48
#define ACLSHMEM_MAX_NAME_LEN 256
#define ALIGN_TO(size, page) (((size) + (page) - 1) / (page) * (page))

constexpr uint32_t UB_ALIGN_SIZE = 32;
constexpr uint32_t UB_ALIGN_SIZE_64 = 64;
constexpr uint32_t DEFAULT_TIMEOUT = 120;
constexpr uint64_t ACLSHMEM_INTERNAL_UB_BUF_START_ADDR = 188 * 1024;
constexpr uint64_t ACLSHMEM_HEAP_ALIGNMENT_SIZE = 1UL << 30;

/// 预定义 team 句柄。
/// Predefined team handles.
enum aclshmem_team_index_t { ACLSHMEM_TEAM_INVALID = -1, ACLSHMEM_TEAM_WORLD = 0 };
enum data_op_engine_type_t {
    ACLSHMEM_DATA_OP_MTE = 1, ACLSHMEM_DATA_OP_SDMA = 2, ACLSHMEM_DATA_OP_ROCE = 4, ACLSHMEM_DATA_OP_UDMA = 8, ACLSHMEM_DATA_OP_MAX = 8
};
/// 对称内存所在侧。
/// Which side a symmetric block lives on.
enum aclshmem_mem_type_t { HOST_SIDE = 0, DEVICE_SIDE = 1 };
/// 信号更新方式。
/// Signal update kinds.
enum aclshmem_signal_op_type_t { ACLSHMEM_SIGNAL_SET = 0, ACLSHMEM_SIGNAL_ADD = 1 };
/// 等待/测试用比较方式。
/// Compare kinds for waits and tests.
enum aclshmem_cmp_op_type_t {
    ACLSHMEM_CMP_EQ = 0, ACLSHMEM_CMP_NE, ACLSHMEM_CMP_GT, ACLSHMEM_CMP_GE, ACLSHMEM_CMP_LT, ACLSHMEM_CMP_LE
};
/// 库返回码。
/// Library status codes.
enum aclshmem_error_code_t : int {
    ACLSHMEM_SUCCESS = 0, ACLSHMEM_INVALID_PARAM = -1, ACLSHMEM_INVALID_VALUE = -2, ACLSHMEM_SMEM_ERROR = -3, ACLSHMEM_INNER_ERROR = -4,
    ACLSHMEM_NOT_INITED = -5, ACLSHMEM_BOOTSTRAP_ERROR = -6, ACLSHMEM_TIMEOUT_ERROR = -7, ACLSHMEM_MALLOC_FAILED = -8,
    ACLSHMEM_DL_FUNC_FAILED = -9, ACLSHMEM_INNER_TIMEOUT = -10, ACLSHMEM_UNDER_API_UNLOAD = -11, ACLSHMEM_NOT_SUPPORTED = -100
};
/// 引导方式（位值）。
/// Bootstrap modes (bit values).
enum aclshmemx_bootstrap_t : unsigned int {
    ACLSHMEMX_INIT_WITH_DEFAULT = 1U << 0, ACLSHMEMX_INIT_WITH_MPI = 1U << 1, ACLSHMEMX_INIT_WITH_UNIQUEID = 1U << 3, ACLSHMEMX_INIT_MAX = 1U << 31
};
/// 初始化阶段。
/// Init stages.
enum aclshmemx_init_status_t {
    ACLSHMEM_STATUS_NOT_INITIALIZED = 0, ACLSHMEM_STATUS_SHM_CREATED, ACLSHMEM_STATUS_IS_INITIALIZED, ACLSHMEM_STATUS_INVALID = 2147483647
};
/// 每个对端的拓扑位，数值与引擎掩码不同。
/// Topology bits per peer; numeric values differ from data_op_engine_type_t.
enum aclshmem_transport_t : uint8_t {
    ACLSHMEM_TRANSPORT_MTE = 1, ACLSHMEM_TRANSPORT_ROCE = 2, ACLSHMEM_TRANSPORT_SDMA = 4, ACLSHMEM_TRANSPORT_UDMA = 8
};
/// Host RMA 的阻塞方式。
/// Blocking or not, used by host RMA.
enum aclshmem_block_mode_t { NO_NBI = 0, NBI };

using Result = int32_t;
typedef int aclshmem_team_t;
typedef uint64_t aclshmemx_team_uniqueid_t;
typedef int32_t aclshmemx_sync_bit[ACLSHMEM_SYNCBIT_SIZE / sizeof(int32_t)];

/// 异步 RMA 等待句柄。
/// Handle for async RMA waits.
struct aclshmem_handle_t { aclshmem_team_t team_id; };
/// team 配置。
/// Team config.
struct aclshmem_team_config_t {
    int version;
    int num_contexts;
    aclshmemx_team_uniqueid_t uniqueid;
    char padding[TEAM_CONFIG_PADDING];
};
/// 某引擎的 UB 暂存配置。
/// UB scratch settings of an engine.
struct aclshmem_ub_config_t {
    int64_t aclshmem_ub;
    uint32_t ub_size;
    uint32_t sync_id;
};
typedef aclshmem_ub_config_t aclshmem_udma_config_t;
typedef aclshmem_ub_config_t aclshmem_mte_config_t;
typedef aclshmem_ub_config_t aclshmem_sdma_config_t;
typedef aclshmem_ub_config_t aclshmem_rdma_config_t;
/// team 记录。
/// Team record.
struct aclshmemx_team_t {
    int mype;
    int start;
    int stride;
    int size;
    int team_idx;
    aclshmem_team_config_t config;
    int32_t pe_mapping[2 * ACLSHMEM_MAX_PES];
};
// Internal in the library; calls that want a team's record leave kernels no other way to it.
/// Host/Device 共享的库状态。
/// Library state shared by host and device.
struct aclshmem_device_host_state_t {
    int mype;
    int npes;
    aclshmemx_team_t *team_pools[ACLSHMEM_MAX_TEAMS];  // nullptr where this PE is no member
};
/// 跨步拷贝描述。
/// Strided copy description.
struct non_contiguous_copy_param {
    uint32_t repeat;   // rows
    uint32_t length;   // elements of a row
    uint32_t src_ld;   // elements from one source row to the next
    uint32_t dst_ld;
};
/// 可选初始化属性。
/// Optional init settings.
struct aclshmem_init_optional_attr_t {
    int version;
    data_op_engine_type_t data_op_engine_type;
    uint32_t shm_init_timeout;
    uint32_t shm_create_timeout;
    uint32_t control_operation_timeout;
    int32_t sockFd;
};
/// 引导唯一 ID。
/// Bootstrap unique id.
struct aclshmemx_uniqueid_t {
    int32_t version;
    int my_pe;
    int n_pes;
    char internal[ACLSHMEM_UNIQUE_ID_INNER_LEN];
};
constexpr int32_t ACLSHMEM_UNIQUEID_VERSION = (1 << 16) + sizeof(aclshmemx_uniqueid_t);
#define ACLSHMEM_UNIQUEID_INITIALIZER {ACLSHMEM_UNIQUEID_VERSION, 0, 0, {0}}
/// 初始化属性。
/// Init settings.
struct aclshmemx_init_attr_t {
    int my_pe;
    int n_pes;
    char ip_port[ACLSHMEM_MAX_IP_PORT_LEN] = {};
    uint64_t local_mem_size;
    aclshmem_init_optional_attr_t option_attr = {1, ACLSHMEM_DATA_OP_MTE, DEFAULT_TIMEOUT, DEFAULT_TIMEOUT, DEFAULT_TIMEOUT, -1};
    void *comm_args = nullptr;
    uint64_t instance_id = 0;
};
/// 实例上下文。
/// Instance context.
struct aclshmem_instance_ctx {
    uint64_t id;
    void *instance;
};
/// 单 block 打点数据。
/// Counters of one block.
struct aclshmem_prof_block_t {
    int64_t ccount[ACLSHMEM_CYCLE_PROF_FRAME_CNT];
    int64_t cycles[ACLSHMEM_CYCLE_PROF_FRAME_CNT];
};
/// 单 PE 打点数据。
/// Counters of one PE.
struct aclshmem_prof_pe_t {
    int32_t pe_id;
    aclshmem_prof_block_t block_prof[ACLSHMEM_CYCLE_PROF_MAX_BLOCK];
};
using aclshmem_decrypt_handler = int (*)(const char *text, size_t length, char *plain, size_t &plain_length);
