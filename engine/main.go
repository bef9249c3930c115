//go:build wasip1

// The engine: kustomize as Flux runs it, compiled to WebAssembly, so that a build has nothing in reach besides the bytes
// that it was given. The host writes a request to where input says, calls build, and reads the result from output.
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"unsafe"

	"sluice/engine/internal/artifact"
	"sluice/engine/internal/kustomization"
	"sluice/engine/internal/request"
)

// Where the artifact lies in the engine's own file system: not at its root, where a path that leads out would lead in again,
// and under a name that no artifact can know and no message mentions by chance.
var root = fmt.Sprintf("/artifact-%016x", rand.Uint64())

// The module's memory ends at 512 MiB (build.sh). Below that Go's collector gets a chance; it would not know of the end.
const memoryLimit = 448 << 20

// Once the schema is read, which is about 50 MB, nothing is collected of a small build, which takes some 10 MB.
const collectAt = 200

var in, out []byte

func init() {
	// kustomize's warnings are for a terminal.
	log.SetOutput(io.Discard)
	os.Stdout, os.Stderr = nil, nil
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(collectAt)
}

// input makes room for a request of n bytes and forgets the last result.
//
//go:wasmexport input
func input(n int32) unsafe.Pointer {
	out = nil
	in = make([]byte, max(n, 1))
	return unsafe.Pointer(&in[0])
}

// build answers 0 where the output is YAML, 1 where it is a refusal and 2 where it is what was recovered of a panic.
//
//go:wasmexport build
func build() int32 {
	data := in
	in = nil
	asked, err := request.Read(data)
	if err != nil {
		out = []byte("kustomize build failed: " + err.Error())
		return int32(kustomization.Panicked)
	}
	files := artifact.NewTree(root, asked.Folders, asked.Files)
	outcome, result := kustomization.Build(files, root, asked.Folder, asked.Spec)
	out = result
	return int32(outcome)
}

//go:wasmexport output
func output() unsafe.Pointer {
	if len(out) == 0 {
		return nil
	}
	return unsafe.Pointer(&out[0])
}

//go:wasmexport outputLength
func outputLength() int32 { return int32(len(out)) }

func main() {}
