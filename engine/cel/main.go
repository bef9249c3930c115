//go:build wasip1

// CEL as Flux evaluates it, compiled to WebAssembly, so that an expression has nothing in reach besides the values that it was
// given. The host writes a request to where input says, calls answer, and reads the result from output.
package main

import (
	"os"
	"runtime/debug"
	"unsafe"

	"sluice/engine/cel/internal/answer"
)

// The module's memory ends at 256 MiB (../build.sh). Below that Go's collector gets a chance; it would not know of the end.
const memoryLimit = 192 << 20

var in, out []byte

func init() {
	os.Stdout, os.Stderr = nil, nil
	debug.SetMemoryLimit(memoryLimit)
}

// input makes room for a request of n bytes and forgets the last result.
//
//go:wasmexport input
func input(n int32) unsafe.Pointer {
	out = nil
	in = make([]byte, max(n, 1))
	return unsafe.Pointer(&in[0])
}

// build answers the request. It is named as kustomize's, so that one host runs both.
//
//go:wasmexport build
func build() int32 {
	data := in
	in = nil
	out = answer.To(data)
	return 0
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
