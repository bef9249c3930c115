#!/usr/bin/env bash
# Writes the zz_*.go: declarations of Helm's and Flux's sources, unchanged, whose own packages bring client-go or
# controller-runtime along. With --check it changes nothing, and fails where what is checked in is not what the sources give.
set -euo pipefail
cd "$(dirname "$0")"

into=.
if [ "${1:-}" = --check ]; then
  into=$(mktemp -d)
  trap 'rm -rf "$into"' EXIT
fi

# The folder of a module, by a sum that is checked: Flux's modules are read, not linked, so that go.sum does not have theirs.
fetched() {
  local module=$1 sum=$2 answer
  answer=$(GOFLAGS=-mod=mod GOWORK=off go mod download -json "$module")
  if ! grep -q "\"Sum\": \"$sum\"" <<<"$answer"; then
    echo "$0: $module is not what it was: $answer" >&2
    exit 1
  fi
  sed -n 's/.*"Dir": "\(.*\)",\{0,1\}/\1/p' <<<"$answer"
}

helm=$(go list -m -f '{{.Dir}}' helm.sh/helm/v4)
chartutil=$(fetched github.com/fluxcd/pkg/chartutil@v1.27.1 h1:Px0z/7c8VpOVmVRr76rVpHyXoBwaqj69vGJoAfKvUIM=)
controller=$(fetched github.com/fluxcd/helm-controller@v1.6.2 h1:cEirkQjLFF721EomwtH5fHuhpiYCW9HkAje1HTzCTsM=)
kustomize=$(fetched github.com/fluxcd/pkg/apis/kustomize@v1.19.1 h1:rmN3hTceBVABGbrqRXEDYoAJDBUIPFRO9zbDJ98Xt/o=)

written=()
extract() {
  local file=$1
  shift
  mkdir -p "$into/$(dirname "$file")"
  go run ./extract "$(basename "$(dirname "$file")")" "$into/$file" "$@"
  written+=("$file")
}

extract internal/action/zz_action.go helm.sh/helm/v4/pkg/postrenderer=sluice/engine/helm/internal/postrenderer \
  "$helm/pkg/action/action.go:PostRenderStrategy,PostRenderStrategyCombined,filenameAnnotation,annotateAndMerge,splitAndDeannotate,renderResources" \
  "$helm/pkg/action/install.go:notesFileSuffix"
extract internal/values/zz_values.go - \
  "$chartutil/encode.go:PreEncoder,Encode" "$chartutil/sort.go:sortSlice,SortMapSlice" "$chartutil/merge.go:MergeMaps" \
  "$chartutil/values.go:ReplacePathValue,ReplacePathLiteralValue"
extract internal/postrender/kustomize/zz_types.go - "$kustomize/kustomize_types.go:Image,Patch,Selector"
extract internal/postrender/zz_post.go \
  github.com/fluxcd/pkg/apis/kustomize=sluice/engine/helm/internal/postrender/kustomize \
  "$controller/internal/postrender/kustomize.go:Kustomize,Run,writeToFile,writeFile,adaptImages,adaptSelector,kustomizeRenderMutex,buildKustomization" \
  "$controller/internal/postrender/transformer.go:ResMapTransformer,transform,labelTransformer,annotationTransformer"

if [ "$into" != . ]; then
  for file in "${written[@]}"; do cmp "$file" "$into/$file"; done
fi
