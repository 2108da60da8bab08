#!/bin/bash
# A private Docker Engine for tests, beside any other:
#   engine.sh up DIR [SUITE [OWNER]]   starts it and prints DOCKER_HOST=... and CRI=... (containerd with its CRI service)
#   engine.sh down DIR                 removes its containers, stops it, and leaves DIR with logs alone
#
# It keeps data, sockets and pid files under DIR (a short path: sockets have 108 bytes), and has network and mount
# namespaces of its own: its bridges, firewall rules and mounts cannot meet another engine's, and go with it. Addresses
# of its containers are reached through `nsenter --net --target $(cat DIR/run/docker.pid)`.
#
# SUITE host (the default) runs the packages of this machine (docker.io, containerd, runc, iptables); a name of Debian
# (trixie, sid) runs that suite's packages in a tree made once by debootstrap under $ENGINE_TREES. When process OWNER
# ends without having called down, that is done for it. Root is needed.
set -euo pipefail
verb=$1 dir=$(realpath -m "$2") suite=${3:-host} owner=${4:-}
run=$dir/run
trees=${ENGINE_TREES:-/var/tmp/engine-trees}
root=; [ "$suite" = host ] || root=$trees/$suite

make_tree() (
  mkdir -p "$trees"
  exec 9>"$trees/lock"
  flock 9
  [ -d "$root" ] && return
  rm -rf "$root.new"
  debootstrap --variant=minbase --include=docker.io,containerd,runc,iptables,procps,ca-certificates \
    "$suite" "$root.new" >"$dir/tree.log" 2>&1 || {
    echo "debootstrap cannot make a tree of $suite:" >&2
    tail -n 20 "$dir/tree.log" >&2
    return 1
  }
  mv "$root.new" "$root"
)

# Makes the tree the root. Not by chroot: what a container executes later would then see the machine's own root.
enter_tree() {
  local each
  mount --bind "$root" "$root"
  for each in proc sys dev; do mount --rbind "/$each" "$root/$each"; done
  mount -t tmpfs tmpfs "$root/run"
  mount --rbind /tmp "$root/tmp"  # where tests keep what they mount into containers
  mkdir -p "$root$dir"
  mount --bind "$dir" "$root$dir"
  cd "$root"
  pivot_root . mnt
  umount -l /mnt
}

# start NAME COMMAND...: in the background, its pid and log named after it
start() {
  local name=$1; shift
  setsid "$@" >"$dir/$name.log" 2>&1 </dev/null &
  echo $! >"$run/$name.pid"
}

# await NAME COMMAND...: until the command succeeds; fails when NAME ends first, or after 90 s
await() {
  local name=$1; shift
  for _ in $(seq 900); do
    "$@" && return
    kill -0 "$(cat "$run/$name.pid")" || break
    sleep .1
  done
  echo "$name does not start:" >&2
  tail -n 20 "$dir/$name.log" >&2
  return 1
}

# Runs in the new namespaces.
daemons() {
  ip link set lo up
  [ -z "$root" ] || enter_tree
  containerd config default | sed -e "s#^root = .*#root = \"$dir/data/containerd\"#" \
    -e "s#^state = .*#state = \"$run/containerd\"#" -e 's#disabled_plugins = .*cri.*#disabled_plugins = []#' \
    -e "s#/run/containerd/containerd.sock#$run/containerd.sock#" >"$dir/containerd.toml"
  start containerd containerd --config "$dir/containerd.toml" --address "$run/containerd.sock"
  await containerd test -S "$run/containerd.sock"
  # The authority of a test's own registry, if there is one; it is read once, when dockerd first speaks TLS.
  export SSL_CERT_FILE=$dir/registry-ca.pem
  start dockerd dockerd --containerd "$run/containerd.sock" --data-root "$dir/data/docker" --exec-root "$run/docker" \
    --pidfile "$run/docker.pid" --host "unix://$run/docker.sock" --default-address-pool base=172.30.0.0/16,size=24
}

up() {
  mkdir -p "$run" "$dir/data"
  [ -z "$root" ] || make_tree
  unshare --net --mount --propagation private "$0" daemons "$dir" "$suite"
  await dockerd curl -sfo /dev/null --unix-socket "$run/docker.sock" http://engine/_ping
  if [ -n "$owner" ]; then setsid "$0" guard "$dir" "$suite" "$owner" >/dev/null 2>&1 </dev/null & fi
  echo "DOCKER_HOST=unix://$run/docker.sock"
  echo "CRI=unix://$run/containerd.sock"
}

guard() {
  tail --pid="$owner" -f /dev/null
  down
}

down() {
  local name pid
  [ -d "$run" ] || return 0
  DOCKER_HOST=unix://$run/docker.sock timeout 20 bash -c 'docker ps -aq | xargs -r docker rm -fv' >/dev/null 2>&1 || true
  for name in dockerd containerd; do
    pid=$(cat "$run/$name.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || continue
    timeout 20 tail --sleep-interval=.1 --pid="$pid" -f /dev/null || kill -KILL "$pid"
  done
  rm -rf "$run" "$dir/data"
}
$verb
