#!/usr/bin/env bash
# Builds kustomize.wasm, its digest and its compressed copy, which is what is checked in. The same Go gives the same bytes.
# Prints the digest. Takes another folder to put the files into as its argument.
set -euo pipefail
cd "$(dirname "$0")"
into=$(realpath "${1:-.}")

# What a user's or a machine's Go settings could change of the bytes.
export GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOEXPERIMENT= GOWASM= GOWORK=off GOENV=off CGO_ENABLED=0
pinned=$(sed -n 's/^toolchain //p' go.mod)
if [ "$(go env GOVERSION)" != "$pinned" ]; then
  echo "build.sh: needs $pinned, here is $(go env GOVERSION)" >&2
  exit 1
fi

GOOS=wasip1 GOARCH=wasm go build -buildvcs=false -buildmode=c-shared -trimpath -ldflags '-s -w' -o "$into/kustomize.wasm" .
# 512 MiB in pages of 64 KiB.
go run ./memorymax "$into/kustomize.wasm" 8192

(cd "$into" && sha256sum kustomize.wasm | tee kustomize.wasm.sha256)
node compress.mjs "$into/kustomize.wasm" "$into/kustomize.wasm.br"
