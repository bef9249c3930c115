#!/usr/bin/env bash
# Builds kustomize.wasm, cel.wasm and helm.wasm, their digests, and their compressed copies; digests and copies are checked in. The same Go
# gives the same bytes. Prints the digests. With --check it changes nothing, and fails where what is checked in is not what the
# sources give. A name after that, kustomize, cel or helm, builds that one alone.
set -euo pipefail
cd "$(dirname "$0")"
. ./go-settings.sh

engine=$PWD
into=$engine
if [ "${1:-}" = --check ]; then
  shift
  into=$(mktemp -d)
  trap 'rm -rf "$into"' EXIT
fi

# The module's name, its pages of 64 KiB at most, and what else go build is told. Built in the folder that it is called from.
module() {
  local name=$1 pages=$2
  shift 2
  GOOS=wasip1 GOARCH=wasm go build "$@" -buildvcs=false -buildmode=c-shared -trimpath \
    -ldflags '-s -w -buildid=' -o "$into/$name.wasm" .
  (cd "$engine" && go run ./memorymax "$into/$name.wasm" "$pages")
  (cd "$into" && sha256sum "$name.wasm" | tee "$name.wasm.sha256")
  if [ "$into" = "$engine" ]; then
    node "$engine/compress.mjs" "$name"
  else
    cmp "$engine/$name.wasm.sha256" "$into/$name.wasm.sha256"
    node "$engine/compress.mjs" "$name" --check "$into/$name.wasm"
  fi
}

# 512 MiB.
kustomize() {
  ./patch.sh
  module kustomize 8192 -modfile=.patched/go.mod
}
# 256 MiB. Time zones are part of CEL, and there is no system to ask for them.
cel() {
  (cd cel && module cel 4096 -tags timetzdata)
}

# 512 MiB. No time zones: a template that asks for one gets UTC, as in Flux's image.
helm() {
  ./patch.sh
  (cd helm && ./generate.sh --check && module helm 8192)
}

for each in ${*:-kustomize cel helm}; do $each; done
