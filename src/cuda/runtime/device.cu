/* The CUDA device of this process: selection, streams, memory, errors and the backend table. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "cuda/runtime/copy_tiles.h"
#include "cuda/runtime/pieces.h"
#include "wings.h"
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

mg_cuda_state_t mg_cuda;

cudaStream_t mg_cuda_stream(void) {
  return mg_cuda.stream;
}

unsigned long long *mg_cuda_reduction(void) {
  return mg_cuda.reduction;
}

mg_status_t mg_cuda_failed(cudaError_t error, const char *call, const char *file, int line) {
  const mg_status_t status = error == cudaErrorMemoryAllocation ? MG_ERR_MEMORY : MG_ERR_DEVICE;
  return mg_error_at(file, line, status, "%.*s: %s", (int)std::strcspn(call, "("), call,
                     cudaGetErrorString(error));
}

mg_status_t mg_cuda_launched(const char *kernel, const char *file, int line) {
  cudaError_t error = cudaGetLastError();
#ifdef MG_CUDA_DEBUG
  if (error == cudaSuccess) error = cudaStreamSynchronize(mg_cuda.stream);
#endif
  return error == cudaSuccess ? MG_OK : mg_cuda_failed(error, kernel, file, line);
}

/* Describe why there is no device. Without a driver the runtime reports that the driver is too old,
 * so the driver version is checked first. */
static void describe_no_device(cudaError_t error, char *why, size_t size) {
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  if (driver == 0)
    snprintf(why, size, "no CUDA device: no driver found");
  else if (error == cudaErrorInsufficientDriver)
    snprintf(why, size, "no CUDA device: driver for CUDA %d.%d, but this build needs %d.%d",
             driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  else
    snprintf(why, size, "no CUDA device: %s", cudaGetErrorString(error));
  (void)cudaGetLastError();
}

static int count(char *why, size_t size) {
  int n = 0;
  /* Load kernels now, not on their first use in a cycle. */
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const cudaError_t error = cudaGetDeviceCount(&n);
  if (error == cudaSuccess && n > 0) return n;
  describe_no_device(error == cudaSuccess ? cudaErrorNoDevice : error, why, size);
  return 0;
}

static void describe_no_code(int device, cudaError_t error, char *why, size_t size) {
  int major = 0, minor = 0;
  (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  (void)cudaGetLastError();
  snprintf(why, size,
           "no code for CUDA device %d (sm_%d%d) in this build (CUDA: %s): %s; configure "
           "--with-cuda-arch=%d%d",
           device, major, minor, MG_BUILD_CUDA, cudaGetErrorString(error), major, minor);
}

static __global__ void probe() {}

static bool usable(int device, char *why, size_t size) {
  cudaFuncAttributes of_probe;
  cudaError_t error = cudaSetDevice(device); /* may already load the kernels */
  const bool loads = error == cudaErrorNoKernelImageForDevice;
  /* Creating the context fails if, for example, another process uses the device exclusively. */
  if (error == cudaSuccess) error = cudaFree(nullptr);
  const bool there = error == cudaSuccess;
  if (there) error = cudaFuncGetAttributes(&of_probe, probe); /* is there code for this GPU? */
  if (error == cudaSuccess) return true;
  if (there || loads)
    describe_no_code(device, error, why, size);
  else
    snprintf(why, size, "cannot use CUDA device %d: %s", device, cudaGetErrorString(error));
  (void)cudaGetLastError();
  return false;
}

mg_status_t mg_cuda_compiled_arch(int *code) {
  static int known = 0;
  if (known == 0) {
    cudaFuncAttributes of_probe;
    MG_CUDA_TRY(cudaFuncGetAttributes(&of_probe, probe));
    known = of_probe.ptxVersion;
  }
  *code = known;
  return MG_OK;
}

/* Programmatic dependent launch requires sm_90 GPUs and code. Captured graphs support it from CUDA
 * 12.3, runtime and driver. */
static mg_status_t find_dependent_launches(bool *chains) {
  int code = 0, driver = 0;
  MG_TRY(mg_cuda_compiled_arch(&code));
  MG_CUDA_TRY(cudaDriverGetVersion(&driver));
  *chains = code >= 90 && CUDART_VERSION >= 12030 && driver >= 12030;
  return MG_OK;
}

/* Memory moves 12.8 bytes per cycle of each SM on an H100, and limits fused sweeps there. On an
 * H200 it moves 18.8, and their instructions are the limit. */
static mg_status_t find_bandwidth(int device) {
  const double enough = 16.0;
  int sm_khz, memory_khz, bits;
  MG_CUDA_TRY(cudaDeviceGetAttribute(&sm_khz, cudaDevAttrClockRate, device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
  /* Two transfers per cycle of the memory. */
  const double bytes_per_ms = 2.0 * memory_khz * bits / 8.0;
  mg_cuda.short_of_bandwidth = bytes_per_ms < enough * mg_cuda.sms * sm_khz;
  return MG_OK;
}

static mg_status_t open_device(int device) {
  int last = 0, first = 0;
  mg_cuda.device = device;
  MG_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&last, &first));
  MG_CUDA_TRY(cudaStreamCreateWithPriority(&mg_cuda.streams[0], cudaStreamNonBlocking, last));
  MG_CUDA_TRY(cudaStreamCreateWithPriority(&mg_cuda.streams[1], cudaStreamNonBlocking, first));
  MG_CUDA_TRY(cudaEventCreateWithFlags(&mg_cuda.forked, cudaEventDisableTiming));
  MG_CUDA_TRY(cudaEventCreateWithFlags(&mg_cuda.joined, cudaEventDisableTiming));
  mg_cuda.stream = mg_cuda.streams[0];
  const size_t bytes = sizeof(mg_sum_t);
  MG_CUDA_TRY(cudaMalloc((void **)&mg_cuda.reduction, bytes + sizeof *mg_cuda.smooth_norm));
  mg_cuda.smooth_norm = mg_cuda.reduction + bytes / sizeof *mg_cuda.smooth_norm;
  MG_CUDA_TRY(cudaMallocHost((void **)&mg_cuda.reduction_host, bytes));
  void *timed_out;
  MG_CUDA_TRY(cudaEventCreateWithFlags(&mg_cuda.event, cudaEventDisableTiming));
  MG_CUDA_TRY(cudaHostAlloc(&timed_out, sizeof(int), cudaHostAllocMapped));
  mg_cuda.timed_out = (int *)timed_out;
  *mg_cuda.timed_out = 0;
  MG_CUDA_TRY(cudaDeviceGetAttribute(&mg_cuda.sms, cudaDevAttrMultiProcessorCount, device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&mg_cuda.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                     device));
  MG_TRY(find_bandwidth(device));
  MG_TRY(find_dependent_launches(&mg_cuda.dependent_launches));
  MG_IF_RESIDENT(MG_TRY(mg_cuda_resident_open()));
  MG_IF_MIXED(MG_TRY(mg_cuda_float_fv4_open()));
  return mg_cuda_fv4_open();
}

static void close_device(void) {
  if (!mg_cuda.stream) return;
  mg_cuboids_close();
  mg_cuda_pieces_close();
  MG_IF_MIXED(mg_float_cuboids_close());
  MG_IF_RESIDENT(mg_cuda_resident_close());
  (void)cudaFreeHost((void *)mg_cuda.timed_out);
  (void)cudaEventDestroy(mg_cuda.event);
  (void)cudaFreeHost(mg_cuda.reduction_host);
  (void)cudaFree(mg_cuda.reduction);
  (void)cudaEventDestroy(mg_cuda.joined);
  (void)cudaEventDestroy(mg_cuda.forked);
  for (cudaStream_t stream : mg_cuda.streams)
    (void)cudaStreamDestroy(stream);
  mg_cuda = mg_cuda_state_t();
}

static mg_status_t find_facts(int device, mg_device_facts_t *facts) {
  cudaDeviceProp p;
  int code = 0;
  MG_CUDA_TRY(cudaGetDeviceProperties(&p, device));
  MG_TRY(mg_cuda_compiled_arch(&code));
  const int card = 10 * p.major + p.minor;
  snprintf(facts->text, sizeof facts->text, "%.200s, sm_%d, %d SMs", p.name, card,
           p.multiProcessorCount);
  if (code != card) mg_append(facts->text, sizeof facts->text, ", code for sm_%d", code);
  memcpy(facts->uuid, &p.uuid, sizeof facts->uuid);
  facts->has_managed = p.concurrentManagedAccess != 0;
  facts->can_fuse = false;
  MG_IF_FUSED(MG_TRY(mg_cuda_has_fused(&facts->can_fuse)));
  return MG_OK;
}

static mg_status_t open(int device, mg_device_facts_t *facts) {
  char why[256];
  static int opened;
  if (mg_cuda.stream) {
    MG_CUDA_TRY(cudaSetDevice(opened));
    if (device == opened) return find_facts(device, facts);
    return mg_error(MG_ERR_UNAVAILABLE, "this process uses CUDA device %d already, not %d", opened,
                    device);
  }
  opened = device;
  if (!usable(device, why, sizeof why)) return mg_error(MG_ERR_UNAVAILABLE, "%s", why);
  mg_status_t status = open_device(device);
  if (status == MG_OK) status = find_facts(device, facts);
  if (status != MG_OK) close_device();
  return status;
}

/* Whether an MPS server may serve this machine: for toolkits and drivers that cannot tell. */
static bool has_mps_pipe(void) {
  const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
  char path[512];
  snprintf(path, sizeof path, "%s/control", folder ? folder : "/tmp/nvidia-mps");
  return access(path, F_OK) == 0;
}

/* Whether kernels of other processes can run beside those of this one: Multi-Process Service. */
static bool under_mps(void) {
#if CUDART_VERSION >= 13000
  int device = 0, enabled = 0;
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&enabled, cudaDevAttrMpsEnabled, device) == cudaSuccess)
    return enabled != 0;
  (void)cudaGetLastError();
#endif
  return has_mps_pipe();
}

static void set_shared(bool shared) {
  mg_cuda.shared = shared || under_mps();
}

static void limits_of(int device, double limit[3]) {
  const cudaDeviceAttr attribute[3] = {cudaDevAttrMultiProcessorCount,
                                       cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       cudaDevAttrL2CacheSize};
  for (int a = 0; a < 3; a++) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute[a], device) != cudaSuccess)
      (void)cudaGetLastError();
    limit[a] = a == 0 && mg_cuda.shared ? 0 : value;
  }
}

static mg_status_t available(int sharers, int64_t *bytes) {
  const int64_t margin = (int64_t)256 << 20;
  size_t free_bytes = 0, total = 0;
  MG_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total));
  const int64_t part = (int64_t)free_bytes / sharers;
  *bytes = part > margin ? part - margin : 0;
  return MG_OK;
}

const mg_backend_device_t mg_cuda_device = {
    .count = count,
    .usable = usable,
    .limits = limits_of,
    .open = open,
    .set_shared = set_shared,
    .available = available,
    .close = close_device,
#ifdef HAVE_NCCL
    .nccl = &mg_cuda_nccl,
#endif
};

static cudaError_t keep_on_device(void *memory, size_t bytes, int device) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation here = {cudaMemLocationTypeDevice, device};
  const cudaError_t error = cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, here);
  return error != cudaSuccess ? error
                              : cudaMemPrefetchAsync(memory, bytes, here, 0, mg_cuda.stream);
#else
  const cudaError_t error = cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, device);
  return error != cudaSuccess ? error : cudaMemPrefetchAsync(memory, bytes, device, mg_cuda.stream);
#endif
}

/** Allocate managed memory whose pages are on the device before their first use. They stay there,
 *  because no host code reads a level. Requests above the free memory fail, since pages would
 *  migrate back and forth. */
static mg_status_t alloc_managed(size_t bytes, void **memory) {
  size_t free_bytes = 0, total = 0;
  int device = 0;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total));
  if (bytes > free_bytes)
    return mg_error(MG_ERR_MEMORY,
                    "out of device memory: cannot allocate %s of managed memory, %s free",
                    mg_bytes((double)bytes).text, mg_bytes((double)free_bytes).text);
  MG_CUDA_TRY(cudaMallocManaged(memory, bytes, cudaMemAttachGlobal));
  cudaError_t error = keep_on_device(*memory, bytes, device);
  if (error == cudaSuccess) error = cudaMemsetAsync(*memory, 0, bytes, mg_cuda.stream);
  /* Complete the prefetch, so that the next allocation's free-memory check includes this one. */
  if (error == cudaSuccess) error = cudaStreamSynchronize(mg_cuda.stream);
  if (error == cudaSuccess) return MG_OK;
  (void)cudaFree(*memory);
  *memory = nullptr;
  return mg_cuda_failed(error, "managed memory allocation", __FILE__, __LINE__);
}

mg_status_t mg_cuda_clear(void *memory, size_t bytes) {
  MG_CUDA_TRY(cudaMemsetAsync(memory, 0, bytes, mg_cuda.stream));
  return MG_OK;
}

mg_status_t mg_cuda_alloc(size_t bytes, mg_space_t space, void **memory) {
  *memory = nullptr;
  if (space == MG_SPACE_SHARED) {
    MG_CUDA_TRY(cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
    memset(*memory, 0, bytes);
    return MG_OK;
  }
  if (space == MG_SPACE_MANAGED) return alloc_managed(bytes, memory);
  MG_CUDA_TRY(cudaMalloc(memory, bytes));
  return mg_cuda_clear(*memory, bytes);
}

void mg_cuda_release(void *memory, size_t bytes, mg_space_t space) {
  (void)bytes;
  if (space == MG_SPACE_SHARED)
    (void)cudaFreeHost(memory);
  else
    (void)cudaFree(memory);
}

mg_status_t mg_cuda_upload(void *to, const void *from, size_t bytes) {
  /* On the stream that reads the data. cudaMemcpy returns when pageable memory has been read,
   * before the data has arrived, and our stream does not wait for the default stream. */
  MG_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, mg_cuda.stream));
  return MG_OK;
}

mg_status_t mg_cuda_download(void *to, const void *from, size_t bytes) {
  MG_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, mg_cuda.stream));
  return MG_OK;
}

mg_status_t mg_cuda_to_device(const void *from, size_t bytes, void **to) {
  MG_CUDA_TRY(cudaMalloc(to, bytes));
  /* The caller may free `from`: a device that reads pageable memory directly may not have read it
   * yet. */
  mg_status_t status = mg_cuda_upload(*to, from, bytes);
  if (status == MG_OK) status = mg_cuda_finish();
  if (status == MG_OK) return MG_OK;
  (void)cudaFree(*to);
  *to = NULL;
  return status;
}

mg_status_t mg_cuda_allow_shared(const void *kernel, size_t bytes) {
  MG_CUDA_TRY(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  return MG_OK;
}

mg_status_t mg_cuda_blocks_per_sm(const void *kernel, int threads, size_t shared_bytes, int *n) {
  MG_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, kernel, threads, shared_bytes));
  return MG_OK;
}

/* Poll the stream or event, and at intervals mg_cuda.watch. A kernel of another library may wait
 * forever for a failed message; only `watch` detects that. */
static mg_status_t wait_watched(cudaError_t (*query)()) {
  using clock = std::chrono::steady_clock;
  const clock::time_point start = clock::now();
  for (int n = 1;; n++) {
    const cudaError_t error = query();
    if (error == cudaSuccess) return MG_OK;
    if (error != cudaErrorNotReady)
      return mg_cuda_failed(error, "wait for the device", __FILE__, __LINE__);
    (void)cudaGetLastError(); /* clear cudaErrorNotReady, or the next launch would report it */
    if (n % 1024 == 0)
      MG_TRY(mg_cuda.watch(std::chrono::duration<double>(clock::now() - start).count()));
  }
}

/* Fail if a kernel's wait for another rank timed out: results may then be wrong. */
static mg_status_t check_timeouts() {
  if (!*mg_cuda.timed_out) return MG_OK;
  return mg_error(MG_ERR_COMM,
                  "timed out waiting for rank %d in a peer-to-peer exchange; it may have died; "
                  "--transport=host avoids peer stores",
                  *mg_cuda.timed_out - 1);
}

mg_status_t mg_cuda_finish(void) {
  if (mg_cuda.watch)
    MG_TRY(wait_watched([] { return cudaStreamQuery(mg_cuda.stream); }));
  else
    MG_CUDA_TRY(cudaStreamSynchronize(mg_cuda.stream));
  return check_timeouts();
}

mg_status_t mg_cuda_event_record(void) {
  MG_CUDA_TRY(cudaEventRecord(mg_cuda.event, mg_cuda.stream));
  return MG_OK;
}

mg_status_t mg_cuda_event_wait(void) {
  if (mg_cuda.watch)
    MG_TRY(wait_watched([] { return cudaEventQuery(mg_cuda.event); }));
  else
    MG_CUDA_TRY(cudaEventSynchronize(mg_cuda.event));
  return check_timeouts();
}

/* The second stream has higher priority, because messages depend on its kernels. In a captured
 * graph both streams have equal priority: keeping priorities there
 * (cudaGraphInstantiateFlagUseNodePriority) made no difference on two H200s, docs/transports.md. */
mg_status_t mg_cuda_stream_fork(void) {
  MG_CUDA_TRY(cudaEventRecord(mg_cuda.forked, mg_cuda.streams[0]));
  MG_CUDA_TRY(cudaStreamWaitEvent(mg_cuda.streams[1], mg_cuda.forked, 0));
  mg_cuda.stream = mg_cuda.streams[1];
  mg_cuda.stream_state = MG_CUDA_FORKED;
  return MG_OK;
}

void mg_cuda_stream_switch(void) {
  mg_cuda.stream = mg_cuda.streams[mg_cuda.stream == mg_cuda.streams[0]];
}

mg_status_t mg_cuda_stream_join(void) {
  mg_cuda.stream = mg_cuda.streams[0];
  MG_CUDA_TRY(cudaEventRecord(mg_cuda.joined, mg_cuda.streams[1]));
  MG_CUDA_TRY(cudaStreamWaitEvent(mg_cuda.streams[0], mg_cuda.joined, 0));
  mg_cuda.stream_state = MG_CUDA_JOINED;
  return MG_OK;
}
