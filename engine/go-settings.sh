# Sourced: what a user's or a machine's Go settings could change, and the one Go that the engine is built with.
export GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOENV=off GOWORK=off GOEXPERIMENT='' GOWASM='' GOFIPS140=off CGO_ENABLED=0
pinned=$(sed -n 's/^toolchain //p' go.mod)
if [ "$(go env GOVERSION)" != "$pinned" ]; then
  echo "$0: needs $pinned, here is $(go env GOVERSION)" >&2
  exit 1
fi
