# The warnings of bind-report, from what table.awk knows of ranks and hosts: warning[1...].

# Hosts with the same ranks, cores and GPUs have the same to say: the first speaks for all.
function warn(h, text) {
  warning[++n_warnings] = (h == "" ? "" : h ": ") text \
    (h != "" && n_alike[h] > 0 ? "; the same on " counted(n_alike[h], "more host") : "")
}

# collect(TEXT, RANK) groups ascending ranks by what is to be said of them; say_collected says it.
function collect(text, r) {
  if (!(text in from)) {
    said[++n_said] = text
    from[text] = r
    ranges[text] = ""
  } else if (r > to[text] + 1) {
    ranges[text] = ranges[text] range(from[text], to[text]) ","
    from[text] = r
  }
  to[text] = r
}

function say_collected(h,   i, text, list) {
  for (i = 1; i <= n_said; i++) {
    text = said[i]
    list = ranges[text] range(from[text], to[text])
    warn(h, (list ~ /[-,]/ ? "ranks " : "rank ") list ": " text)
    delete from[text]
  }
  n_said = 0
}

function find_alike(   i, j, k, h, key, layout, kind, n_kinds, first) {
  for (i = 1; i <= n_hosts; i++) {
    h = host[i]
    layout = ""
    for (j = 1; j <= on_host[h]; j++) {
      k = member[h, j]
      key = cpus[k] " " cores[k] " " nodes[k] " " sockets[k] " " n_threads[k] \
        " " (k in gpu ? gpu_id[k] " " gpu_node[k] : "") \
        " " get(k, "node_sizes") " " get(k, "socket_sizes") " " get(k, "models")
      if (!(key in kind)) kind[key] = ++n_kinds
      layout = layout " " kind[key]
    }
    if (layout in first) n_alike[first[layout]]++
    else first[layout] = different[++n_different] = h
  }
}

function is_subset(inner, outer,   i) {
  if (size[inner] > size[outer]) return 0
  for (i = 1; i <= size[inner]; i++)
    if (!((outer, element[inner, i]) in contains)) return 0
  return 1
}

function root_of(i) {
  while (parent[i] != i) i = parent[i]
  return i
}

# The different lists of a host's cores, at[list] by number; parent[] joins those that overlap. False where
# no core has two ranks.
function join_lists(h,   j, i, x, list, a, b, shared) {
  split("", at)
  split("", parent)
  split("", owner)
  n_lists = top_core = shared = 0
  for (j = 1; j <= on_host[h]; j++) {
    list = cores[member[h, j]]
    if (list in at) {
      shared = 1
      continue
    }
    at[list] = ++n_lists
    parent[n_lists] = n_lists
    for (i = 1; i <= size[list]; i++) {
      x = element[list, i]
      if (x > top_core) top_core = x
      if (!(x in owner)) owner[x] = n_lists
      a = root_of(owner[x])
      b = root_of(n_lists)
      if (a != b) shared = 1
      if (a < b) parent[b] = a
      else parent[a] = b
    }
  }
  return shared
}

# Ranks that may use no core outside of one list, or (where group is not 0) whose lists are of a group: do
# they have more threads than it has cores?
function share(h, list, group,   j, k, n, n_sharing, sharing) {
  for (j = 1; j <= on_host[h]; j++) {
    k = member[h, j]
    if (cores[k] == "" || (group ? root_of(at[cores[k]]) != group : !is_subset(cores[k], list))) continue
    sharing[++n_sharing] = rank[k]
    n += n_threads[k]
  }
  if (n_sharing < 2 || n <= size[list]) return 0
  for (j = 1; j <= n_sharing; j++)
    collect(counted(n, "thread") " on " counted(size[list], "core") " that they share, " list, sharing[j])
  say_collected(h)
  return 1
}

# Lists that are too full by themselves; then those that overlap in a chain and are too full together.
function check_overlap(h,   j, x, list, asked, full, numbers) {
  if (!join_lists(h)) return
  for (j = 1; j <= on_host[h]; j++) {
    list = cores[member[h, j]]
    if (list == "" || list in asked) continue
    asked[list] = 1
    if (share(h, list, 0)) full[root_of(at[list])] = 1
  }
  for (j = 1; j <= n_lists; j++) {
    if (parent[j] != j || j in full) continue
    numbers = ""
    for (x = 0; x <= top_core; x++)
      if (x in owner && root_of(owner[x]) == j) numbers = numbers " " x
    list = shorten(numbers)
    expand(list)
    share(h, list, j)
  }
}

# Ranks with as many cores that fit into parts of the host, each into one.
function room(sizes, n_cores,   parts, i, n) {
  for (i = split(sizes, parts, ","); i >= 1 && n_cores > 0; i--) n += int(parts[i] / n_cores)
  return n
}

# Sockets or NUMA nodes that a rank's cores are spread over, although all ranks like it on the host would do
# without; else empty.
function spread(k, n,   n_cores) {
  n_cores = size[cores[k]]
  if (size[sockets[k]] > 1 && room(get(k, "socket_sizes"), n_cores) >= n) return "sockets " sockets[k]
  if (size[nodes[k]] > 1 && room(get(k, "node_sizes"), n_cores) >= n) return "NUMA nodes " nodes[k]
  return ""
}

function check_cores(h,   j, k, n, list, bound) {
  n = on_host[h]
  list = cores[member[h, 1]]
  bound = n < 2 || size[list] < 2
  for (j = 1; j <= n; j++) {
    k = member[h, j]
    if (cores[k] != list) bound = 1
    if (size[cores[k]] > 0 && n_threads[k] > size[cores[k]])
      collect(n_threads[k] " threads on " counted(size[cores[k]], "core") \
        (size[cpus[k]] > size[cores[k]] ? " of " size[cpus[k]] " hardware threads" : ""), rank[k])
  }
  say_collected(h)
  check_overlap(h)
  for (j = 1; !bound && j <= n; j++)
    collect("not bound, each may use all of the cores " list "; give each its own (srun -c N" \
      " --cpu-bind=cores, mpirun --map-by slot:PE=N --bind-to core)", rank[member[h, j]])
  say_collected(h)
  for (j = 1; bound && j <= n; j++) {
    k = member[h, j]
    if (spread(k, n) != "")
      collect(size[cores[k]] " cores spread over " spread(k, n) ", where one would do", rank[k])
  }
  say_collected(h)
}

function check_gpus(h,   j, k, n, times) {
  n = on_host[h]
  for (j = 1; j <= n; j++) if ((k = member[h, j]) in gpu) times[gpu_id[k]]++
  for (j = 1; j <= n; j++)
    if ((k = member[h, j]) in gpu && times[gpu_id[k]] > 1)
      collect("the same GPU, " gpu_id[k] ", on which they take turns", rank[k])
  say_collected(h)
  for (j = 1; j <= n; j++) {
    k = member[h, j]
    if (k in gpu && gpu_node[k] != "" && nodes[k] != "" && !((nodes[k], gpu_node[k]) in contains))
      collect("GPU " gpu_id[k] " at NUMA node " gpu_node[k] ", cores on " nodes[k], rank[k])
  }
  say_collected(h)
  if ((member[h, 1], "models") in value)
    warn(h, "GPUs of several models, which CUDA may number otherwise; set CUDA_DEVICE_ORDER=PCI_BUS_ID")
}

# Is every rank there once, and every host with as many?
function check_launch(   r, i, n, text, example, more) {
  for (r = 0; r < n_ranks; r++)
    if (!n_times[r]) collect("no line, of " counted(n_ranks, "rank"), r)
    else if (n_times[r] > 1)
      collect("came " n_times[r] " times; is the launcher that of the MPI library that hpgmg-fv has?", r)
  say_collected("")
  for (i = 1; i <= n_hosts; i++) {
    n = on_host[host[i]]
    if (n in example) more[n]++
    else {
      said[++n_said] = n
      example[n] = host[i]
    }
  }
  for (i = 1; i <= n_said; i++) {
    n = said[i]
    text = text ", " n " on " example[n] (n in more ? " and " counted(more[n], "more host") : "")
  }
  if (n_said > 1) warn("", "hosts have different numbers of ranks: " substr(text, 3))
  n_said = 0
}

function check_environment(   i, k, text, n_with) {
  for (i = 1; i <= n_records; i++) {
    k = order[i]
    if (k in gpu) n_with++
    if (omp[k] && threads && omp[k] != threads)
      collect("OMP_NUM_THREADS=" get(k, "threads") ", not " threads "; does the launcher pass it on" \
        " (mpirun -x OMP_NUM_THREADS)?", rank[k])
    if (omp[k] || (n_records == 1 && (!threads || threads == size[cpus[k]]))) continue
    text = "OMP_NUM_THREADS is " ((k, "threads") in value ? "no number" : "unset") \
      ", so each CPU of a rank gets a thread"
    if (threads) text = text ", where " threads (threads == 1 ? " is" : " are") " meant"
    collect(text, rank[k])
  }
  for (i = 1; n_with > 0 && i <= n_records; i++)
    if (!(order[i] in gpu))
      collect("no GPU, where others have one; --device=auto leaves all on the CPU", rank[order[i]])
  say_collected("")
}
