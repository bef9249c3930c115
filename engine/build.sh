#!/usr/bin/env bash
# Builds kustomize.wasm, its digest, and its compressed copy; digest and copy are checked in. The same Go gives the same bytes.
# Prints the digest. With --check it changes nothing, and fails where what is checked in is not what the sources give.
set -euo pipefail
cd "$(dirname "$0")"
. ./go-settings.sh
./patch.sh

into=.
if [ "${1:-}" = --check ]; then
  into=$(mktemp -d)
  trap 'rm -rf "$into"' EXIT
fi
GOOS=wasip1 GOARCH=wasm go build -modfile=.patched/go.mod -buildvcs=false -buildmode=c-shared -trimpath \
  -ldflags '-s -w -buildid=' -o "$into/kustomize.wasm" .
# 512 MiB in pages of 64 KiB.
go run ./memorymax "$into/kustomize.wasm" 8192
(cd "$into" && sha256sum kustomize.wasm | tee kustomize.wasm.sha256)

if [ "$into" = . ]; then
  node compress.mjs
else
  cmp kustomize.wasm.sha256 "$into/kustomize.wasm.sha256"
  node compress.mjs --check "$into/kustomize.wasm"
fi
