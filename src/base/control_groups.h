/* Linux's control groups (cgroup v1 and v2), which limit memory and CPU time of containers and
 * jobs. */
#ifndef MG_CONTROL_GROUPS_H
#define MG_CONTROL_GROUPS_H

#include <stdint.h>
#include <stdio.h>

/** Open a file for reading; NULL if there is none. */
FILE *mg_groups_open(const char *folder, const char *name);

/** The least value of this process's group and its ancestors.
 *  @param[in] root        folder of /proc and /sys; "" but in tests
 *  @param[in] controller  name in /proc/self/cgroup; "" for v2
 *  @param[in] mount       folder of the controller's root group
 *  @param[in] value       of the group in a folder; negative: none
 *  @param[out] group      number of the group with this value on this host; NULL: not needed
 *  @return INT64_MAX if no group has a value */
int64_t mg_groups_least(const char *root, const char *controller, const char *mount,
                        int64_t (*value)(const void *data, const char *folder), const void *data,
                        uint64_t *group);

#endif
