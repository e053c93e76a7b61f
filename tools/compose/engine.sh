#!/usr/bin/env bash
# A Docker engine for `npm run test:compose` on a Debian machine without one, and base images where no registry of images
# can be reached. Needs root. Everything is in the folder ENGINE_DIR; `stop` ends the engine and removes the folder.
#
#   engine.sh install             dockerd, Compose and buildx, from Debian's packages
#   engine.sh start               dockerd, with its data below ENGINE_DIR
#   engine.sh base IMAGE...       stand-ins for the official images (stand-ins.Dockerfile)
#   engine.sh stop                ends what `start` started
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${ENGINE_DIR:?the folder of the engine}
export DOCKER_BUILDKIT=1 DOCKER_CONFIG=$work/config
mkdir -p "$work" "$DOCKER_CONFIG/cli-plugins"

mirror() {
  awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null
}

# Packages of Debian 13, which has Compose v2, unpacked without a change of the machine's own apt.
fetch_trixie() {
  local apt="$work/apt"
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,parts}
  printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' \
    "$(mirror)" /usr/share/keyrings/debian-archive-keyring.gpg >"$apt/parts/trixie.sources"
  cat >"$apt/apt.conf" <<END
Dir::State::Lists "$apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$apt/parts";
APT::Sandbox::User "root";
END
  (cd "$work" && export APT_CONFIG="$apt/apt.conf" && apt-get update -qq && apt-get download -qq "$@")
}

install_docker() {
  local missing=() package
  command -v dockerd >/dev/null || missing+=(docker.io)
  command -v docker >/dev/null || missing+=(docker.io)
  command -v debootstrap >/dev/null || missing+=(debootstrap)
  command -v iptables >/dev/null || missing+=(iptables)
  if ((${#missing[@]})); then
    apt-get update -qq
    # RUNLEVEL: the package starts no service.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
  fi
  if ! docker compose version >/dev/null 2>&1 || ! docker buildx version >/dev/null 2>&1; then
    fetch_trixie docker-compose docker-buildx
    for package in "$work"/docker-{compose,buildx}_*.deb; do dpkg-deb -x "$package" "$work/plugins"; done
    cp "$work"/plugins/usr/libexec/docker/cli-plugins/* "$DOCKER_CONFIG/cli-plugins/"
  fi
}

bridge_filter=/proc/sys/net/bridge/bridge-nf-call-iptables

# dockerd refuses forwarded packets and filters those of all bridges, and leaves that behind: tests with network
# namespaces fail then. `stop` restores the state of before.
save_network() {
  iptables-save >"$work/iptables"
  cat /proc/sys/net/ipv4/ip_forward >"$work/ip-forward"
  cat "$bridge_filter" >"$work/bridge-filter" 2>/dev/null || echo 0 >"$work/bridge-filter"
}

restore_network() {
  [ -s "$work/bridge-filter" ] || return 0
  iptables-restore <"$work/iptables" || true
  cat "$work/ip-forward" >/proc/sys/net/ipv4/ip_forward || true
  if [ -e "$bridge_filter" ]; then cat "$work/bridge-filter" >"$bridge_filter" || true; fi
}

start_docker() {
  save_network
  setsid dockerd --host "unix://$work/docker.sock" --data-root "$work/data" --exec-root "$work/exec" \
    --pidfile "$work/dockerd.pid" >"$work/dockerd.log" 2>&1 </dev/null &
  for _ in $(seq 60); do
    if docker info >/dev/null 2>&1; then return; fi
    sleep 0.5
  done
  tail -5 "$work/dockerd.log" >&2
  return 1
}

stop_docker() {
  if [ -s "$work/dockerd.pid" ]; then
    local pid
    pid=$(<"$work/dockerd.pid")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 60); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.5
    done
    # dockerd leaves its bridge. Another engine on this machine would have its own.
    if [ "$(pgrep -xc dockerd || true)" = 0 ]; then
      ip link delete docker0 2>/dev/null || true
      restore_network
    fi
  fi
  rm -rf --one-file-system "$work"
}

target_of() {
  case "$1" in
    node:*) echo node ;;
    nats:*) echo nats ;;
    haproxy:*) echo haproxy ;;
    pgvector/pgvector:*-pg17) echo postgres ;;
    *) echo "there is no stand-in for $1" >&2 && return 1 ;;
  esac
}

# The files of the build: a Debian, Node and npm from their packages, and the machine's certificates.
fill_context() {
  local context=$1 node=$2 file
  mkdir -p "$context/node" "$context/npm"
  debootstrap --variant=minbase trixie "$work/debian" "$(mirror)" >"$work/debootstrap.log" &
  (cd "$context" && npm pack --silent "node-linux-$(node -p process.arch)@$node" npm@11.19.0 >/dev/null)
  for file in node npm; do
    tar -C "$context/$file" --strip-components=1 -xzf "$context/$file-"[0-9l]*.tgz
  done
  cp /etc/ssl/certs/ca-certificates.crt "$context/ca.crt"
  printf 'registry=%s\ncafile=/usr/local/share/stand-in/ca.crt\n' "$(npm config get registry)" >"$context/npmrc"
  cp "$here/postgres-entrypoint.sh" "$context/"
  wait %1
  rm -rf "$work"/debian/var/{cache/apt/archives/*.deb,lib/apt/lists/*} "$work"/debian/usr/share/{doc,man,locale}/*
  tar -C "$work/debian" -cf "$context/debian.tar" .
}

base_images() {
  local context="$work/context" image node='' target
  for image in "$@"; do case "$image" in node:*) node=${image#node:} ;; esac; done
  fill_context "$context" "${node%%-*}"
  for image in "$@"; do
    target=$(target_of "$image")
    docker build --quiet --network host --tag "$image" --target "$target" --file "$here/stand-ins.Dockerfile" "$context"
  done
  rm -rf --one-file-system "$context" "$work/debian"
}

case "${1:-}" in
  install) install_docker ;;
  start) start_docker ;;
  base) shift && base_images "$@" ;;
  stop) stop_docker ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
