//go:build wasip1

// Helm's rendering as WebAssembly: a request goes in, JSON or Helm's message comes out. The one thing in reach is lookup, which
// the host answers.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"runtime/debug"
	"unsafe"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"sluice/engine/helm/internal/answer"
)

// The module's memory ends at 512 MiB (../build.sh). Below that Go's collector gets a chance; it would not know of the end.
const memoryLimit = 448 << 20

var in, out []byte

func init() {
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Stdout, os.Stderr = nil, nil
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(200)
}

// hostLookup asks the host for what the JSON at the address names, blocks until it is there, and answers its length; below 0 it is
// that of an error's text.
//
//go:wasmimport sluice lookup
func hostLookup(at unsafe.Pointer, length uint32) int32

// hostAnswer copies the last answer to the address.
//
//go:wasmimport sluice answer
func hostAnswer(at unsafe.Pointer)

func lookup(apiVersion, kind, namespace, name string) (map[string]any, error) {
	ask, err := json.Marshal([]string{apiVersion, kind, namespace, name})
	if err != nil {
		return map[string]any{}, err
	}
	length := hostLookup(unsafe.Pointer(&ask[0]), uint32(len(ask)))
	isError := length < 0
	if isError {
		length = -length
	}
	text := make([]byte, length+1)
	hostAnswer(unsafe.Pointer(&text[0]))
	text = text[:length]
	if isError {
		return map[string]any{}, errors.New(string(text))
	}
	found := map[string]any{}
	return found, kjson.Unmarshal(text, &found)
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
func build() (status int32) {
	data := in
	in = nil
	defer func() {
		if broken := recover(); broken != nil {
			refusal, _ := json.Marshal(answer.Refusal{Part: "render", Message: fmt.Sprint(broken)})
			out, status = refusal, 2
		}
	}()
	text, isDone := answer.To(data, lookup)
	out = text
	if isDone {
		return 0
	}
	return 1
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
