#!/bin/bash
# Makes a small real image without a registry: image.sh NAME:TAG [noshell]   (on the Engine at $DOCKER_HOST)
# It holds Debian's busybox-static with its applets (sh, httpd, nc, ping, ps, sleep, ...); `noshell` makes one that
# holds a single static program and no /bin/sh.
set -euo pipefail
name=$1 kind=${2:-full}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/bin" "$tree/tmp" "$tree/etc"
echo 'root:x:0:0:root:/:/bin/sh' >"$tree/etc/passwd"
if [ "$kind" = noshell ]; then
  cp "$(command -v busybox)" "$tree/bin/sleep"
  changes=(-c 'ENTRYPOINT ["/bin/sleep"]' -c 'CMD ["3600"]')
else
  cp "$(command -v busybox)" "$tree/bin/busybox"
  for applet in $(busybox --list); do [ "$applet" = busybox ] || ln -sf busybox "$tree/bin/$applet"; done
  changes=(-c 'CMD ["sh"]' -c 'ENV PATH=/bin')
fi
tar -C "$tree" -c . | docker import "${changes[@]}" - "$name"
