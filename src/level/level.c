#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "formulas/walls.h"
#include "level/level.h"
#include "wings.h"
#include <stdlib.h>
#include <string.h>

static const mg_backend_t *backends[MG_N_PLACES] = {
    [MG_PLACE_CPU] = &mg_backend_cpu,
#ifdef HAVE_CUDA
    [MG_PLACE_CUDA] = &mg_backend_cuda,
    [MG_PLACE_CUDA_SIMPLE] = &mg_backend_cuda_simple,
#endif
};
static const mg_backend_t *float_backends[MG_N_PLACES] = {
    MG_IF_MIXED([MG_PLACE_CPU] = &mg_backend_cpu_float, )
#ifdef HAVE_CUDA
        MG_IF_MIXED([MG_PLACE_CUDA] = &mg_backend_cuda_float, )
            MG_IF_MIXED([MG_PLACE_CUDA_SIMPLE] = &mg_backend_cuda_simple_float, )
#endif
};

void mg_level_provide_guard(const mg_backend_t *guard, const mg_backend_t *guard_float) {
  backends[MG_PLACE_GUARD] = guard;
  float_backends[MG_PLACE_GUARD] = guard_float;
  mg_params_allow_guard();
}

static const mg_backend_t *backend_of(const mg_level_plan_t *plan) {
  return (plan->value_bytes == sizeof(float) ? float_backends : backends)[plan->place];
}

const mg_backend_t *mg_level_backend(mg_place_t place) {
  return backends[place];
}

const mg_view_t *mg_level_view(const mg_level_t *level) {
  return &level->store.view;
}

const mg_view_t *mg_level_coarse_view(const mg_hierarchy_t *h, int l) {
  return h->level[l].has_image ? &h->level[l].image.view : &h->level[l + 1].store.view;
}

static mg_patch_strides_t strides_of(const int32_t n[3], const int32_t lo[3], const mg_view_t *v) {
  return mg_patch_strides_of(n, lo, v->n, v->ghost_layers, v->wall_layers);
}

/* Place vectors of a patch one after the other, starting at `memory`. Returns the end. */
static char *place_vectors(unsigned vectors, const mg_patch_strides_t *shape, int value_bytes,
                           char *memory, mg_patch_t *p) {
  for (int vec = 0; vec < MG_N_VECTORS; vec++) {
    if (!(vectors & 1u << vec)) continue;
    p->vec[vec] = (void *)(memory + shape->origin * value_bytes);
    memory += shape->size * value_bytes;
  }
  return memory;
}

/* Set the shape and walls of one patch, and its vectors, starting at `memory`. Returns the end. */
static char *set_patch(const mg_cuboid_t *c, const mg_store_t *store, unsigned vectors,
                       char *memory, mg_patch_t *p) {
  const mg_view_t *v = &store->view;
  const mg_patch_strides_t shape = strides_of(c->n, c->lo, v);
  memset(p, 0, sizeof *p);
  memcpy(p->n, c->n, sizeof p->n);
  memcpy(p->lo, c->lo, sizeof p->lo);
  p->jstride = shape.jstride;
  p->kstride = shape.kstride;
  for (int d = 0; d < 3; d++) {
    p->wall[d][0] = c->lo[d] == 0 ? v->side[d][0] : MG_WALL_NONE;
    p->wall[d][1] = c->lo[d] + c->n[d] == v->n[d] ? v->side[d][1] : MG_WALL_NONE;
  }
  return place_vectors(vectors, &shape, store->value_bytes, memory, p);
}

/* Place vectors of float cells in the memory of MG_U of the same double cells. */
static void place_in_u(const mg_store_t *outer, unsigned vectors, mg_store_t *store) {
  for (int q = 0; q < store->view.n_patches; q++) {
    mg_patch_t *p = &store->view.patch[q];
    const mg_patch_strides_t shape = strides_of(p->n, p->lo, &store->view);
    char *const u = (void *)outer->view.patch[q].vec[MG_U];
    (void)place_vectors(vectors, &shape, store->value_bytes, u - shape.origin * outer->value_bytes,
                        p);
  }
}

static mg_status_t allocate_cells(mg_store_t *store) {
  MG_IF_LIBRARY(if (mg_allocator() && store->space == MG_SPACE_LEVEL) return mg_given_take(store));
  const mg_status_t status = store->owner->alloc(store->bytes, store->space, &store->memory);
  if (status != MG_OK) store->memory = NULL;
  return status;
}

/* Allocate n patches. */
static mg_status_t store_create(const mg_cuboid_t *patches, int n, unsigned vectors,
                                mg_store_t *store) {
  mg_view_t *v = &store->view;
  int64_t values = 0;
  for (int p = 0; p < n; p++) {
    values += strides_of(patches[p].n, patches[p].lo, v).size * mg_n_vectors(vectors);
    v->cells += (int64_t)patches[p].n[0] * patches[p].n[1] * patches[p].n[2];
  }
  if (n == 0) return MG_OK;
  MG_TRY(mg_new(&v->patch, n, "patch lists"));
  store->bytes = (size_t)(values * store->value_bytes);
  MG_TRY(allocate_cells(store));
  v->n_patches = n;
  char *memory = store->memory;
  for (int p = 0; p < n; p++)
    memory = set_patch(&patches[p], store, vectors, memory, &v->patch[p]);
  return MG_OK;
}

static void store_free(mg_store_t *store) {
  if (store->memory && !store->allocator)
    store->owner->release(store->memory, store->bytes, store->space);
  MG_IF_LIBRARY(if (store->memory && store->allocator) mg_given_release(store));
  free(store->view.patch);
  free(store->view.constant.rows);
  memset(store, 0, sizeof *store);
}

/* View of a level, still without patches. */
static mg_view_t empty_view(const mg_hierarchy_t *h, const mg_level_plan_t *plan, int layers,
                            int wall_layers) {
  const mg_layout_t *layout = &plan->layout;
  const double n = layout->n[0];
  mg_view_t v = {.box_dim = layout->box_dim,
                 .general = layout->general,
                 .radius = h->plan.radius,
                 .ghost_layers = layers,
                 .wall_layers = wall_layers,
                 .op = h->params.op,
                 .periodic = mg_params_is_all_periodic(&h->params),
                 .alpha_varies = h->params.alpha_varies,
                 .linear_walls = plan->linear_walls,
                 .a = h->params.equation == MG_EQUATION_HELMHOLTZ ? 1.0 : 0.0,
                 .b_h2 = layout->general ? 1.0 / (plan->h[0] * plan->h[0]) : n * n};
  for (int d = 0; d < 3; d++) {
    v.n[d] = layout->n[d];
    v.single[d] = layout->single[d];
    v.h[d] = plan->h[d];
    for (int side = 0; side < 2; side++)
      v.side[d][side] = h->params.side[d][side].wall;
  }
  return v;
}

/* The backend of the finer level owns the memory of a shared level: the CPU backend cannot allocate
 * memory that a device accesses. */
static void choose_owner(const mg_hierarchy_t *h, const mg_level_t *level, mg_store_t *store) {
  const bool unified = h->params.memory == MG_MEMORY_UNIFIED;
  store->owner = level->backend;
  store->value_bytes = level->plan->value_bytes;
  store->space = unified ? MG_SPACE_MANAGED : MG_SPACE_LEVEL;
  if (store != &level->store || !level->plan->shared) return;
  store->owner = level[-1].backend;
  store->space = MG_SPACE_SHARED;
}

/* outer: the level of double cells beside a float level, or NULL. */
static mg_status_t create_stores(mg_hierarchy_t *h, mg_level_t *level, const mg_level_t *outer) {
  const unsigned in_u = outer ? outer->plan->u_holds : 0;
  mg_cuboid_t *patches;
  int n;
  choose_owner(h, level, &level->store);
  choose_owner(h, level, &level->image);
  level->store.view =
      empty_view(h, level->plan, level->plan->ghost_layers, level->plan->wall_layers);
  MG_TRY(mg_layout_patches(&level->plan->layout, mg_comm_rank(mg_comm_world()), &patches, &n));
  mg_status_t status = store_create(patches, n, level->plan->vectors & ~in_u, &level->store);
  if (status == MG_OK && in_u) place_in_u(&outer->store, in_u, &level->store);
  if (status == MG_OK && level->has_image) {
    level->image.view = empty_view(h, level[1].plan, h->plan.radius, h->plan.radius);
    for (int p = 0; p < n; p++)
      patches[p] = mg_layout_coarse(&level->plan->layout, &patches[p]);
    status = store_create(patches, n, MG_VECTORS_OF_IMAGE, &level->image);
  }
  free(patches);
  return status;
}

static mg_status_t create_exchanges(mg_hierarchy_t *h, mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const bool periodic[3] = {mg_is_periodic(v, 0), mg_is_periodic(v, 1), mg_is_periodic(v, 2)};
  const mg_end_t end = {level->backend, &level->store.view, &level->timers.traffic};
  mg_copy_spec_t spec = mg_copy_halo(&level->plan->layout, h->plan.radius, periodic);
  MG_TRY(mg_exchange_create(&spec, end, end, h->transports, &level->halo_box));
  level->halo = level->halo_box;
  if (!mg_traits_of(v->op)->edges) {
    spec.faces = true;
    MG_TRY(mg_exchange_create(&spec, end, end, h->transports, &level->halo));
  }
  if (level->plan->ghost_layers > h->plan.radius) {
    spec = mg_copy_halo(&level->plan->layout, level->plan->ghost_layers, periodic);
    MG_TRY(mg_exchange_create(&spec, end, end, h->transports, &level->halo_deep));
  }
  if (!level->has_image) return MG_OK;
  /* Messages are counted on the level that sends them, because the sender holds cells there. */
  mg_level_t *coarse = level + 1;
  const mg_end_t image_end = {level->backend, &level->image.view, &level->timers.traffic};
  const mg_end_t coarse_end = {coarse->backend, &coarse->store.view, &coarse->timers.traffic};
  const mg_distribution_t image = {.layout = &level->plan->layout, .halved = true},
                          cells = {.layout = &coarse->plan->layout};
  spec = mg_copy_halo(&level->plan->layout, 0, periodic);
  spec.src = image;
  spec.dst = cells;
  spec.interior = true;
  MG_TRY(mg_exchange_create(&spec, image_end, coarse_end, h->transports, &level->gather));
  spec.src = cells;
  spec.dst = image;
  spec.depth = h->plan.radius;
  return mg_exchange_create(&spec, coarse_end, image_end, h->transports, &level->scatter);
}

static mg_status_t create_levels(mg_hierarchy_t *h, const mg_hierarchy_t *outer) {
  for (int l = 0; l < h->n_levels; l++) {
    mg_level_t *level = &h->level[l];
    level->index = l;
    level->plan = h->plan.n_outer > 0 ? &h->plan.outer[l] : &h->plan.level[l];
    level->backend = backend_of(level->plan);
    level->has_image = l + 1 < h->n_levels && !level->plan->nests_coarse;
  }
  MG_IF_PROFILE(mg_profile_name_ranges(h);)
  for (int l = 0; l < h->n_levels; l++)
    MG_TRY(create_stores(h, &h->level[l], outer && l < outer->n_levels ? &outer->level[l] : NULL));
  return MG_OK;
}

static mg_status_t create_all_exchanges(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++)
    MG_TRY(create_exchanges(h, &h->level[l]));
  return MG_OK;
}

mg_status_t mg_hierarchy_transports(const mg_params_t *params, const mg_plan_t *plan,
                                    mg_transports_t **out) {
  bool on_device = false;
  for (int l = 0; l < plan->n_levels; l++)
    on_device = on_device || mg_place_is_cuda(plan->level[l].place);
  return mg_transports_create(params, on_device, out);
}

static mg_status_t split_ranks(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++)
    MG_TRY(mg_comm_split(mg_comm_world(), h->level[l].store.view.n_patches > 0, &h->level[l].comm));
  return MG_OK;
}

static mg_status_t create_low(mg_hierarchy_t *h);

/* Fill a hierarchy that has transports, or needs them, and nothing else.
 * outer: the hierarchy of double cells beside these float levels, or NULL. */
mg_status_t mg_hierarchy_fill(mg_hierarchy_t *h, const mg_params_t *params, const mg_plan_t *plan,
                              const mg_hierarchy_t *outer) {
  h->params = *params;
  h->params.bottom = mg_plan_bottom(params, &plan->level[plan->n_levels - 1].layout);
  h->plan = *plan;
  h->n_levels = mg_plan_n_double_levels(plan);
  h->low_scale = 1.0;
  h->residual_level = -1;
  h->keeps_residual = params->rtol > 0.0;
  if (!h->transports) MG_TRY(mg_hierarchy_transports(params, plan, &h->transports));
  MG_TRY(mg_comm_agree(create_levels(h, outer)));
  MG_TRY(mg_comm_agree_or_end(create_all_exchanges(h)));
  MG_TRY(mg_comm_agree_or_end(split_ranks(h)));
  return create_low(h);
}

static mg_status_t create_hierarchy(const mg_params_t *params, const mg_plan_t *plan,
                                    mg_transports_t *transports, const mg_hierarchy_t *outer,
                                    mg_hierarchy_t **out) {
  mg_hierarchy_t *h;
  *out = NULL;
  mg_status_t status = mg_new(&h, 1, "the level hierarchy");
  if (h) {
    h->transports = transports;
    h->shares_transports = transports != NULL;
  }
  status = mg_comm_agree(status);
  if (status == MG_OK) status = mg_hierarchy_fill(h, params, plan, outer);
  if (status != MG_OK) {
    mg_hierarchy_free(h);
    return status;
  }
  *out = h;
  return MG_OK;
}

/* The float levels of mixed precision. */
static mg_status_t create_low(mg_hierarchy_t *h) {
  if (h->plan.n_outer == 0) return MG_OK;
  mg_plan_t plan = h->plan;
  plan.n_outer = 0;
  return create_hierarchy(&h->params, &plan, h->transports, h, &h->low);
}

mg_status_t mg_hierarchy_create(const mg_params_t *params, const mg_plan_t *plan,
                                mg_transports_t *transports, mg_hierarchy_t **out) {
  return create_hierarchy(params, plan, transports, NULL, out);
}

void mg_hierarchy_release(mg_hierarchy_t *h) {
  mg_hierarchy_free(h->low);
  MG_IF_COARSE(mg_cycles_free(h);)
  MG_IF_SOLIDS(mg_solids_free(h->solids);)
  MG_IF_PROFILE(mg_profile_release(h);)
  MG_IF_DOMAINS(mg_metric_release(h);)
  for (int l = 0; l < h->n_levels; l++) {
    mg_level_t *level = &h->level[l];
    if (level->halo != level->halo_box) mg_exchange_free(level->halo);
    mg_exchange_free(level->halo_box);
    mg_exchange_free(level->halo_deep);
    mg_exchange_free(level->gather);
    mg_exchange_free(level->scatter);
    MG_IF_CHOICES(mg_direct_free(level->direct);)
    store_free(&level->image);
    store_free(&level->store);
    mg_comm_free(level->comm);
    mg_smoother_free(level);
  }
}

void mg_hierarchy_free(mg_hierarchy_t *h) {
  if (!h) return;
  mg_hierarchy_release(h);
  MG_IF_DOMAINS(mg_wall_faces_free(h->wall_faces);)
  if (!h->shares_transports) mg_transports_free(h->transports);
  free(h->plane_betas);
  free(h);
}

int64_t mg_level_bytes(const mg_level_t *level) {
  int64_t bytes = (int64_t)(level->store.bytes + level->image.bytes) +
                  mg_exchange_bytes(level->halo) + mg_exchange_bytes(level->halo_deep) +
                  mg_exchange_bytes(level->gather) + mg_exchange_bytes(level->scatter);
  if (level->halo != level->halo_box) bytes += mg_exchange_bytes(level->halo_box);
  return bytes;
}

int64_t mg_hierarchy_bytes(const mg_hierarchy_t *h, int l) {
  const int64_t bytes = l < h->n_levels ? mg_level_bytes(&h->level[l]) : 0;
  return h->low ? bytes + mg_level_bytes(&h->low->level[l]) : bytes;
}
