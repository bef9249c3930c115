#!/usr/bin/env bash
# Makes .patched: copies of kustomize's modules, as go.sum vouches for them, with patches/ applied, and a go.mod that puts
# them in place of the originals. Does nothing where that has been done.
set -euo pipefail
cd "$(dirname "$0")"
stamp=$(cat go.mod go.sum patch.sh patches/*.patch | sha256sum)
if [ "$(cat .patched/stamp 2>/dev/null)" = "$stamp" ]; then exit 0; fi

go mod download
go mod verify >/dev/null
fresh=.patched.$$
trap 'chmod -R u+w "$fresh" 2>/dev/null || true; rm -rf "$fresh"' EXIT
# Upstream's tests look for a folder of plugins beside the module, and most of them for nothing in it.
mkdir "$fresh" "$fresh/plugin"
for module in api kyaml; do
  cp -R "$(go list -m -f '{{.Dir}}' "sigs.k8s.io/kustomize/$module")" "$fresh/$module"
done
chmod -R u+w "$fresh"
for patch in patches/*.patch; do
  # Git must not take this for a part of the repository around it, in which it would skip what is ignored.
  (cd "$fresh" && GIT_CEILING_DIRECTORIES=$PWD/.. GIT_DIR=/dev/null git apply --whitespace=nowarn "$OLDPWD/$patch")
done
cp go.mod go.sum "$fresh"
go mod edit -replace sigs.k8s.io/kustomize/api=./.patched/api -replace sigs.k8s.io/kustomize/kyaml=./.patched/kyaml \
  "$fresh/go.mod"
# For upstream's own tests: with the versions of everything else that the engine is built of.
printf 'go 1.26\nuse (\n\t..\n\t./api\n\t./kyaml\n)\n' > "$fresh/go.work"
echo "$stamp" > "$fresh/stamp"
rm -rf .patched
mv "$fresh" .patched
