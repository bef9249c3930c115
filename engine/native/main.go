//go:build !wasip1

// The engine as a program: builds a folder on disk with the code that is in the WebAssembly, by kustomize's own file system
// of the disk. Tests judge the WebAssembly by it. The artifact must hold no links.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"sluice/engine/internal/kustomization"
)

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fail("usage: engine-native FOLDER_ROOT SUBFOLDER [SPEC_JSON]")
	}
	root, err := filepath.Abs(os.Args[1])
	if err != nil {
		fail(err.Error())
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		fail(err.Error())
	}
	var spec kustomization.Spec
	if len(os.Args) == 4 {
		if err := json.Unmarshal([]byte(os.Args[3]), &spec); err != nil {
			fail(err.Error())
		}
	}
	outcome, result := kustomization.Build(filesys.MakeFsOnDisk(), root, os.Args[2], spec)
	if outcome != kustomization.Built {
		fail(string(result))
	}
	os.Stdout.Write(result)
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
