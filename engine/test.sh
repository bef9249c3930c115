#!/usr/bin/env bash
# Tests the engine, and by upstream's own tests the packages of kustomize that are patched and those above them. Left out are
# the tests that need a network, containers, plugins that upstream keeps elsewhere, or upstream's own linker flags.
set -euo pipefail
cd "$(dirname "$0")"
. ./go-settings.sh
./patch.sh

test -z "$(gofmt -l cel helm internal native memorymax ./*.go)"

# CEL: each expression of its table has Flux's outcome and words.
(cd cel && go vet ./... && GOOS=wasip1 GOARCH=wasm go vet . && go test ./...)

# Helm: numbers, values, records and what a rendering may not do.
(cd helm && go vet ./... && GOOS=wasip1 GOARCH=wasm go vet . && go test ./...)

go vet -modfile=.patched/go.mod ./...
go test -modfile=.patched/go.mod ./...

# What a build prints must be what it prints without the patches. No integer of these trees loses digits in upstream.
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
ENGINE_GENERATED_RESULTS=$results/patched go test -modfile=.patched/go.mod -run TestGeneratedTrees ./internal/kustomization
ENGINE_GENERATED_RESULTS=$results/upstream go test -run TestGeneratedTrees ./internal/kustomization
cmp "$results/patched" "$results/upstream"

export GOWORK=$PWD/.patched/go.work
cd .patched/api
elsewhere='Remote|FnContainer|TestAddManagedbyLabel|TestIssue1251_Plugins|TestPluginEnvironment|TestPluginsNotEnabled'
elsewhere+='|TestReusableCustomTransformers|TestSedTransformer'
go test -skip "$elsewhere" ./resmap/... ./resource/... ./krusty ./internal/accumulator/... ./internal/target/... \
  ./internal/utils/... ./internal/builtins/... ./filters/...
cd ../kyaml
go test ./yaml/... ./resid/... ./kio/...
