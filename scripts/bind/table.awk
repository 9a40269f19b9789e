# Table and warnings of scripts/bind-report, from the lines that its ranks wrote; for any POSIX awk.
#
#   -v threads=N    threads that a rank is meant to have, 0: what each has by itself
#   -v strict=1     end with 10 after warnings
#   -v captured=1   lines that are not ours are passed over instead of shown on stderr
#   BIND_REPORT_JSON in the environment: a file for the same as JSON
#
# Ends with 11 where there is no line. A record k is one line; value[k, KEY] is there if the line has KEY, and
# is looked at through get(), since awk makes what it is asked for.

# --- lists such as 0-3,8 -------------------------------------------------------------------------

function is_list(text) {
  return text ~ /^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$/ && text !~ /[0-9][0-9][0-9][0-9][0-9][0-9]/
}

# Fills size[list], element[list, 1...] and contains[list, number].
function expand(list,   parts, ends, n, i, x, last) {
  if (list in size) return
  size[list] = 0
  n = split(list, parts, ",")
  for (i = 1; i <= n; i++) {
    last = split(parts[i], ends, "-") == 2 ? ends[2] : ends[1]
    for (x = ends[1] + 0; x <= last + 0; x++) {
      element[list, ++size[list]] = x
      contains[list, x] = 1
    }
  }
}

function range(first, last) {
  return first == last ? first : first "-" last
}

# Of ascending numbers, with blanks between them.
function shorten(numbers,   words, n, i, first, list) {
  n = split(numbers, words, " ")
  for (i = 1; i <= n; i++) {
    first = words[i]
    while (i < n && words[i + 1] == words[i] + 1) i++
    list = list "," range(first, words[i])
  }
  return substr(list, 2)
}

function counted(n, noun) {
  return n + 0 " " noun (n == 1 ? "" : "s")
}

function get(k, key) {
  return (k, key) in value ? value[k, key] : ""
}

# --- input ---------------------------------------------------------------------------------------

function decoded(text) {
  gsub(/%20/, " ", text)
  gsub(/%25/, "%", text)
  gsub(/[^ -~]/, "?", text)
  return text
}

function can_be(key, text) {
  if (key ~ /^(rank|local|ranks)$/) return text ~ /^[0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?$/
  if (key ~ /^(cpus|cores|nodes|sockets)$/) return is_list(text)
  return 1
}

# One record; false for a line that no rank writes.
function take(text,   words, n, i, key, at, found) {
  n = split(text, words, " ")
  for (i = 3; i < n; i++) {
    at = index(words[i], "=")
    key = substr(words[i], 1, at - 1)
    found[key] = decoded(substr(words[i], at + 1))
    if (!can_be(key, found[key])) return 0
  }
  if (!("rank" in found) || found["host"] == "") return 0
  n_records++
  for (key in found) value[n_records, key] = found[key]
  return 1
}

# Launchers may label lines: [1,0]<stdout>: of Open MPI, [0] of Hydra, 0: of srun.
function show(text) {
  sub(/[ \t\r]+$/, "", text)
  if (captured || text == "" || text ~ /^\[[^ ]*\](<[a-z]+>:?)?$/ || text ~ /^[0-9]+:$/) return
  print text >"/dev/stderr"
}

{
  rest = $0
  while (match(rest, /bind-report-rank 1( [a-z_]+=[^ ]*)+ end/)) {
    show(substr(rest, 1, RSTART - 1))
    line = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    if (!take(line)) show(line)
  }
  show(rest)
}

# --- what follows from the records ---------------------------------------------------------------

# order[1...]: records by rank. n_times[rank]: how many say that they are it.
function sort_ranks(   k, r, i, last, record) {
  last = -1
  for (k = 1; k <= n_records; k++) {
    r = get(k, "rank") + 0
    record[r, ++n_times[r]] = k
    if (r > last) last = r
    if (get(k, "ranks") + 0 > n_ranks) n_ranks = get(k, "ranks") + 0
  }
  if (last + 1 > n_ranks) n_ranks = last + 1
  k = 0
  for (r = 0; r <= last; r++)
    for (i = 1; i <= n_times[r]; i++) order[++k] = record[r, i]
}

# Hosts in the order of their first ranks, and what a rank does there.
function settle(k,   h, n, i, parts, at) {
  h = get(k, "host")
  if (!(h in on_host)) host[++n_hosts] = h
  member[h, ++on_host[h]] = k
  rank[k] = get(k, "rank") + 0
  local_rank[k] = (k, "local") in value ? value[k, "local"] + 0 : on_host[h] - 1
  cpus[k] = get(k, "cpus")
  cores[k] = (k, "cores") in value ? value[k, "cores"] : cpus[k]
  nodes[k] = get(k, "nodes")
  sockets[k] = get(k, "sockets")
  expand(cpus[k])
  expand(cores[k])
  expand(nodes[k])
  expand(sockets[k])
  # Of a list, the first is for the outermost loops.
  omp[k] = match(get(k, "threads"), /[0-9]+/) == 1 ? substr(value[k, "threads"], 1, RLENGTH) + 0 : 0
  n_threads[k] = threads > 0 ? threads + 0 : omp[k] ? omp[k] : size[cpus[k]]
  n = split(get(k, "gpus"), parts, ",")
  if (n == 0) return
  gpu[k] = local_rank[k] % n
  at = parts[gpu[k] + 1]
  i = index(at, "@")
  gpu_id[k] = i ? substr(at, 1, i - 1) : at
  gpu_node[k] = i ? substr(at, i + 1) : ""
  if (gpu_node[k] !~ /^[0-9]+$/) gpu_node[k] = ""
}

# --- output --------------------------------------------------------------------------------------

# What a column of the table says of a rank.
function cell(k, key) {
  if (key == "rank") return rank[k]
  if (key == "local") return local_rank[k]
  if (key == "cores") return cpus[k] == "" ? "-" : size[cores[k]]
  if (key == "mems") return given(k, key) ((k, "policy") in value ? " " value[k, "policy"] : "")
  if (key == "gpu") return k in gpu ? gpu[k] : "-"
  if (key == "pci") return k in gpu ? gpu_id[k] : "-"
  return given(k, key)
}

function given(k, key) {
  return !((k, key) in value) ? "-" : value[k, key] == "" ? "''" : value[k, key]
}

function print_table(   n, c, i, key, title, width, lines) {
  n = split("rank host local cpus cores nodes mems threads places bind gpu pci visible", key, " ")
  split("rank host local cpus cores numa mems OMP_NUM_THREADS OMP_PLACES OMP_PROC_BIND gpu pci" \
    " CUDA_VISIBLE_DEVICES", title, " ")
  for (c = 1; c <= n; c++) {
    width = length(title[c])
    for (i = 1; i <= n_records; i++)
      if (length(cell(order[i], key[c])) > width) width = length(cell(order[i], key[c]))
    lines[0] = lines[0] padded(title[c], width, c < n)
    for (i = 1; i <= n_records; i++) lines[i] = lines[i] padded(cell(order[i], key[c]), width, c < n)
  }
  for (i = 0; i <= n_records; i++) print lines[i]
}

function padded(text, width, more) {
  return more ? sprintf("%-" width "s  ", text) : text
}

function quoted(text,   i, c, result) {
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    result = result (c == "\"" || c == "\\" ? "\\" : "") c
  }
  return "\"" result "\""
}

function text_or_null(k, key) {
  return (k, key) in value ? quoted(value[k, key]) : "null"
}

function json_rank(k,   core_count, gpu_number, id, node, policy) {
  core_count = gpu_number = id = node = "null"
  if (cpus[k] != "") core_count = size[cores[k]]
  if (k in gpu) {
    gpu_number = gpu[k]
    id = quoted(gpu_id[k])
    if (gpu_node[k] != "") node = gpu_node[k]
  }
  policy = (k, "policy") in value ? value[k, "policy"] : "default"
  return "{\"rank\": " rank[k] ", \"host\": " text_or_null(k, "host") ", \"local_rank\": " local_rank[k] \
    ", \"cpus\": " text_or_null(k, "cpus") ", \"cores\": " core_count \
    ", \"numa_nodes\": " text_or_null(k, "nodes") \
    ", \"memory_nodes\": " text_or_null(k, "mems") ", \"memory_policy\": " quoted(policy) \
    ", \"omp_num_threads\": " text_or_null(k, "threads") ", \"omp_places\": " text_or_null(k, "places") \
    ", \"omp_proc_bind\": " text_or_null(k, "bind") ", \"gpu\": " gpu_number ", \"gpu_id\": " id \
    ", \"gpu_numa_node\": " node ", \"cuda_visible_devices\": " text_or_null(k, "visible") "}"
}

function write_json(file,   i) {
  print "{\n  \"ranks\": [" >file
  for (i = 1; i <= n_records; i++) print "    " json_rank(order[i]) (i < n_records ? "," : "") >file
  print "  ],\n  \"warnings\": [" >file
  for (i = 1; i <= n_warnings; i++) print "    " quoted(warning[i]) (i < n_warnings ? "," : "") >file
  print "  ]\n}" >file
  close(file)
}

END {
  if (n_records == 0) exit 11
  sort_ranks()
  for (i = 1; i <= n_records; i++) settle(order[i])
  find_alike()
  check_launch()
  check_environment()
  for (i = 1; i <= n_different; i++) {
    check_cores(different[i])
    check_gpus(different[i])
  }
  print_table()
  for (i = 1; i <= n_warnings; i++) print "warning: " warning[i]
  print counted(n_records, "rank") " on " counted(n_hosts, "host") ", " counted(n_warnings, "warning")
  if (ENVIRON["BIND_REPORT_JSON"] != "") write_json(ENVIRON["BIND_REPORT_JSON"])
  if (strict && n_warnings > 0) exit 10
}
