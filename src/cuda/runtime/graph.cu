/* Capture of a cycle as a CUDA graph. The host replays all launches with one call, and a launch
 * costs the device a quarter of its cost on a stream. */
#include "cuda/cuda.h"
#include <new>

struct mg_graph {
  cudaGraphExec_t executable;
};

static void release(mg_graph_t *graph) {
  if (!graph) return;
  if (graph->executable) (void)cudaGraphExecDestroy(graph->executable);
  delete graph;
}

static mg_status_t begin(void) {
  MG_CUDA_TRY(cudaStreamBeginCapture(mg_cuda.stream, cudaStreamCaptureModeThreadLocal));
  mg_cuda.captures = true;
  return MG_OK;
}

static mg_status_t end(mg_graph_t **out) {
  cudaGraph_t captured = nullptr;
  *out = nullptr;
  mg_cuda.stream = mg_cuda.streams[0]; /* needed after an error between fork and join */
  mg_cuda.stream_state = MG_CUDA_ONE_STREAM;
  mg_cuda.captures = false;
  MG_CUDA_TRY(cudaStreamEndCapture(mg_cuda.stream, &captured));
  mg_graph_t *graph = new (std::nothrow) mg_graph_t();
  cudaError_t error = graph ? cudaGraphInstantiateWithFlags(&graph->executable, captured, 0)
                            : cudaErrorMemoryAllocation;
  if (error == cudaSuccess) error = cudaGraphUpload(graph->executable, mg_cuda.stream);
  (void)cudaGraphDestroy(captured);
  if (error != cudaSuccess) {
    release(graph);
    return mg_cuda_failed(error, "CUDA graph of a cycle", __FILE__, __LINE__);
  }
  *out = graph;
  return MG_OK;
}

static mg_status_t launch(const mg_graph_t *graph) {
  MG_CUDA_TRY(cudaGraphLaunch(graph->executable, mg_cuda.stream));
  return MG_OK;
}

const mg_backend_graph_t mg_cuda_graph = {
    .begin = begin, .end = end, .launch = launch, .free = release};
