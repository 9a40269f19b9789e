/* Whole cycles as graphs, launched in one call each. */
#ifndef MG_GRAPH_H
#define MG_GRAPH_H

#include "level/level.h"

/** Capture the cycles of solves from level `top`, so that mg_solve launches each as one graph.
 *
 *  Does nothing if the backend has no graphs, or if a cycle needs the host: for messages, for
 * levels on the CPU, or for a bottom solve of several launches. Allocates; the solves do not.
 * Collective over the world: all ranks capture, or none does.
 *  @pre mg_problem_set has been called, and is not called again without another capture
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_graph_capture(mg_hierarchy_t *h, int top);

#endif
