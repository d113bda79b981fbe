# What ./dev needs before it changes anything: each thing that is missing gets one sentence. Sourced by ./dev.

# What a first set-up takes on disk: Go modules and build cache, Kubernetes, images, npm packages.
needed_gib=12

fail() {
  echo "dev: $*" >&2
  exit 1
}

need_tool() {
  command -v "$1" >/dev/null || fail "$1 is missing: install $2 and run this again."
}

# Ports that something listens on, on every address or on the local cluster's: /proc/net/tcp lists them in hexadecimal.
listening() {
  awk '$4 == "0A" { split($2, a, ":"); if (a[1] ~ /^0+$/ || a[1] == "0100630A") print a[2] }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

preflight_anywhere() {
  [ "$(uname -s)" = Linux ] || fail "the local set-up runs on Linux only (this is $(uname -s)): use a Linux machine, or deploy/ on a cluster of yours."
  [ "$(uname -m)" = x86_64 ] || fail "the local set-up runs on x86_64 only (this is $(uname -m))."
  need_tool npm "Node.js with npm (any version)"
}

# Ours is up, or something is left of it: its addresses are no news.
cluster_is_there() {
  [ -e /sys/class/net/virtflow0 ]
}

need_root() {
  [ "$(id -u)" = 0 ] || fail "the local cluster needs root (namespaces, cgroups, mounts): run it as root, for example sudo -E ./dev $*"
}

preflight_cluster() {
  need_root "$@"
  need_tool go "Go 1.21 or later"
  need_tool python3 "Python 3 with pip"
  python3 -m pip --version >/dev/null 2>&1 || fail "pip is missing: install python3-pip and run this again."
  command -v cc >/dev/null || need_tool gcc "a C compiler"
  need_tool git "git"
  need_tool apt-get "a Debian 12 (the set-up takes containerd and others from its packages)"
  [ -e /sys/fs/cgroup/cgroup.controllers ] || [ -e /sys/fs/cgroup/unified/cgroup.procs ] ||
    fail "no cgroup v2 hierarchy at /sys/fs/cgroup or /sys/fs/cgroup/unified: boot with cgroup v2 or hybrid."
  [ -e "$cache/.complete" ] && needed_gib=2
  local dir=$cache free
  while [ ! -d "$dir" ]; do dir=$(dirname "$dir"); done
  free=$(df --output=avail -BG "$dir" | tail -1 | tr -dc 0-9)
  [ "$free" -ge "$needed_gib" ] || fail "$dir has $free GiB free, $needed_gib GiB are needed: free some, or set XDG_CACHE_HOME and XDG_STATE_HOME to a larger disk."

  cluster_is_there && return 0
  if awk 'NR > 1 && $2 ~ /^00630A/ { found = 1 } END { exit !found }' /proc/net/route; then
    fail "a route to 10.99.0.0/24 exists already (see ip route): the local cluster needs that network, remove the route first."
  fi
  local taken port
  taken=$(listening)
  for port in 53:DNS 2379:etcd 2380:etcd 6443:Kubernetes; do
    if grep -qix "$(printf '%04X' "${port%%:*}")" <<<"$taken"; then
      fail "port ${port%%:*} (for ${port#*:}) is taken on every address of this machine: stop what listens there (see ss -ltnp), or bind it to one address."
    fi
  done
}

preflight() {
  case ${1:-} in
    up | demo | bench) preflight_anywhere && preflight_cluster "$@" ;;
    test) preflight_anywhere && { only_pure "${@:2}" || preflight_cluster "$@"; } ;;
    down | clean) preflight_anywhere && need_root "$@" ;;
    *) preflight_anywhere ;;
  esac
}

# Whether the sections of tests asked for need no cluster.
only_pure() {
  [ $# -gt 0 ] || return 1
  local section
  for section; do
    case $section in static | unit | workflow | replay | oracle | -*) ;; *) return 1 ;; esac
  done
}
