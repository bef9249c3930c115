//go:build !wasip1

// memorymax writes a maximum into the memory section of a WebAssembly module, since Go's linker writes none.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
)

const memorySection = 5

var errUnexpected = errors.New("not a module with one memory without a maximum")

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: memorymax MODULE.wasm PAGES"))
	}
	pages, err := strconv.ParseUint(os.Args[2], 10, 16)
	if err != nil {
		fail(err)
	}
	module, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	limited, err := withMaximum(module, pages)
	if err != nil {
		fail(err)
	}
	if err := os.WriteFile(os.Args[1], limited, 0o644); err != nil {
		fail(err)
	}
}

// withMaximum answers a module whose memory grows to pages of 64 KiB and no further.
func withMaximum(module []byte, pages uint64) ([]byte, error) {
	const header = "\x00asm\x01\x00\x00\x00"
	if !bytes.HasPrefix(module, []byte(header)) {
		return nil, errUnexpected
	}
	for at := len(header); at < len(module); {
		id := module[at]
		length, lengthBytes := binary.Uvarint(module[at+1:])
		start := at + 1 + lengthBytes
		if lengthBytes <= 0 || length > uint64(len(module)-start) {
			return nil, errUnexpected
		}
		end := start + int(length)
		if id == memorySection {
			section, err := limitedSection(module[start:end], pages)
			if err != nil {
				return nil, err
			}
			return bytes.Join([][]byte{module[:at], section, module[end:]}, nil), nil
		}
		at = end
	}
	return nil, errUnexpected
}

// limitedSection answers the whole section with one memory of the same minimum.
func limitedSection(section []byte, pages uint64) ([]byte, error) {
	if len(section) < 3 || section[0] != 1 || section[1] != 0 {
		return nil, errUnexpected
	}
	minimum, minimumBytes := binary.Uvarint(section[2:])
	if minimumBytes <= 0 || 2+minimumBytes != len(section) || minimum > pages {
		return nil, errUnexpected
	}
	limited := binary.AppendUvarint([]byte{1, 1}, minimum)
	limited = binary.AppendUvarint(limited, pages)
	return append(binary.AppendUvarint([]byte{memorySection}, uint64(len(limited))), limited...), nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "memorymax:", err)
	os.Exit(1)
}
