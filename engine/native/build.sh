#!/usr/bin/env bash
# Builds the engine as a program for this machine. Takes the path of the program to write. With --unpatched kustomize is as
# upstream has it, to compare the output of both.
set -euo pipefail
patched=-modfile=.patched/go.mod
if [ "${1:-}" = --unpatched ]; then
  patched=-modfile=go.mod
  shift
fi
program=$(realpath "$1")
cd "$(dirname "$0")/.."
. ./go-settings.sh
./patch.sh
go build "$patched" -buildvcs=false -trimpath -o "$program" ./native
