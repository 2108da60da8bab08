# shellcheck shell=bash
# What ./quickstart and ./test share: messages, Debian packages, the virtual environment of this clone.
# To be sourced in the clone's directory, under `set -euo pipefail`.

python=.venv/bin/python

say() { printf '%-10s %s\n' "$1" "$2"; }
die() { printf '%s\n' "$@" >&2; exit 1; }
is_root() { [ "$(id -u)" = 0 ]; }
has_systemd() { [ -d /run/systemd/system ]; }

# apt_install PACKAGE...: as root. Without an init system nothing is started: RUNLEVEL=1 says "single user" to the
# packages' own scripts, so that what runs is what was started here.
apt_install() {
  local environment=(DEBIAN_FRONTEND=noninteractive)
  has_systemd || environment+=(RUNLEVEL=1)
  say Packages "installing $*"
  env "${environment[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && return
  apt-get update -qq >/dev/null || die "apt-get update failed: see above, then run this again."
  env "${environment[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
    die "apt-get install $* failed: see above, then run this again."
}

# need PACKAGE=COMMAND...: installs the packages whose commands are missing, or says which to install.
need() {
  local pair missing=()
  for pair in "$@"; do command -v "${pair#*=}" >/dev/null || missing+=("${pair%%=*}"); done
  [ ${#missing[@]} = 0 ] && return
  is_root && command -v apt-get >/dev/null || die "Missing: ${missing[*]}. As root: apt-get install ${missing[*]}"
  apt_install "${missing[@]}"
}

find_python() {
  local candidate check='import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))'
  for candidate in python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c "$check" 2>/dev/null; then echo "$candidate"; return; fi
  done
  return 1
}

# ensure_venv LOCK...: .venv holds Tierce with the packages of one of these lock files; the first is installed if not.
# A lock file that holds all of another one may stand in for it.
ensure_venv() {
  local lock wanted interpreter
  for lock in "$@"; do
    wanted=$(cat "$lock" pyproject.toml | sha256sum)
    [ "$(cat ".venv/$lock.installed" 2>/dev/null)" = "$wanted" ] && return
  done
  lock=$1
  wanted=$(cat "$lock" pyproject.toml | sha256sum)
  if ! "$python" -c '' 2>/dev/null; then
    interpreter=$(find_python) || {
      is_root && command -v apt-get >/dev/null && apt_install python3 python3-venv
      interpreter=$(find_python) || die "Tierce needs Python 3.11, 3.12 or 3.13 with its venv module." \
        "On Debian 12 or newer, as root: apt-get install python3-venv"
    }
    "$interpreter" -m venv --clear .venv
  fi
  say Python "installing the packages of $lock into .venv (a minute or two, once)"
  local pip=("$python" -m pip --quiet --quiet --disable-pip-version-check install)
  "${pip[@]}" --require-hashes -r "$lock" && "${pip[@]}" --no-deps --no-build-isolation --editable . ||
    die "The packages could not be installed: see above, then run this again."
  echo "$wanted" >".venv/$lock.installed"
}
