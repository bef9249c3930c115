#!/usr/bin/env bash
# Tests the engine, and by upstream's own tests the packages of kustomize that are patched and those above them. Left out are
# the tests that need a network, containers, plugins that upstream keeps elsewhere, or upstream's own linker flags.
set -euo pipefail
cd "$(dirname "$0")"
. ./go-settings.sh
./patch.sh

test -z "$(gofmt -l internal native memorymax ./*.go)"
go vet -modfile=.patched/go.mod ./...
go test -modfile=.patched/go.mod ./...

export GOWORK=$PWD/.patched/go.work
cd .patched/api
elsewhere='Remote|FnContainer|TestAddManagedbyLabel|TestIssue1251_Plugins|TestPluginEnvironment|TestPluginsNotEnabled'
elsewhere+='|TestReusableCustomTransformers|TestSedTransformer'
go test -skip "$elsewhere" ./resmap/... ./resource/... ./krusty ./internal/accumulator/... ./internal/target/... \
  ./internal/utils/... ./internal/builtins/... ./filters/...
cd ../kyaml
go test ./yaml/... ./resid/... ./kio/...
