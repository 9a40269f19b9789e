/* Capture of a cycle as a CUDA graph. The host replays all launches with one call, and a launch
 * costs the device a quarter of its cost on a stream. */
#include "cuda/cuda.h"
#include <new>

struct mg_graph {
  cudaGraphExec_t graph;
};

mg_status_t mg_cuda_graph_begin(void) {
  MG_CUDA_TRY(cudaStreamBeginCapture(mg_cuda.stream, cudaStreamCaptureModeThreadLocal));
  return MG_OK;
}

mg_status_t mg_cuda_graph_end(mg_graph_t **out) {
  cudaGraph_t graph = nullptr;
  *out = nullptr;
  mg_cuda.stream = mg_cuda.queue[0]; /* needed after an error between fork and join */
  mg_cuda.queues = MG_CUDA_ONE_QUEUE;
  MG_CUDA_TRY(cudaStreamEndCapture(mg_cuda.stream, &graph));
  mg_graph_t *recording = new (std::nothrow) mg_graph_t();
  cudaError_t error = recording ? cudaGraphInstantiateWithFlags(&recording->graph, graph, 0)
                                : cudaErrorMemoryAllocation;
  if (error == cudaSuccess) error = cudaGraphUpload(recording->graph, mg_cuda.stream);
  (void)cudaGraphDestroy(graph);
  if (error != cudaSuccess) {
    mg_cuda_graph_free(recording);
    return mg_cuda_failed(error, "CUDA graph of a cycle", __FILE__, __LINE__);
  }
  *out = recording;
  return MG_OK;
}

mg_status_t mg_cuda_graph_launch(const mg_graph_t *recording) {
  MG_CUDA_TRY(cudaGraphLaunch(recording->graph, mg_cuda.stream));
  return MG_OK;
}

void mg_cuda_graph_free(mg_graph_t *recording) {
  if (!recording) return;
  if (recording->graph) (void)cudaGraphExecDestroy(recording->graph);
  delete recording;
}
