// Package request reads what the host asks to be built.
package request

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/engine/internal/kustomization"
)

// Request is a tree of files and what to build of it. Paths are relative, with slashes; the root is "".
type Request struct {
	Folder  string
	Folders []string
	Files   map[string][]byte
	Spec    kustomization.Spec
}

type header struct {
	Folder  string             `json:"folder"`
	Folders []string           `json:"folders"`
	Files   []file             `json:"files"`
	Spec    kustomization.Spec `json:"spec"`
}

type file struct {
	path   string
	length int
}

// UnmarshalJSON reads `["path", length]`.
func (f *file) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&f.path, &f.length})
}

var errShort = errors.New("the request ends before what its header announces")

// Read takes the length of a JSON header as four bytes, the lowest first, the header, and the bytes of all files one after
// the other. The files are parts of data, not copies.
func Read(data []byte) (Request, error) {
	if len(data) < 4 {
		return Request{}, errShort
	}
	length, data := uint64(binary.LittleEndian.Uint32(data)), data[4:]
	if length > uint64(len(data)) {
		return Request{}, errShort
	}
	var head header
	if err := json.Unmarshal(data[:length], &head); err != nil {
		return Request{}, fmt.Errorf("the request's header cannot be read: %w", err)
	}
	data = data[length:]
	files := make(map[string][]byte, len(head.Files))
	for _, file := range head.Files {
		if file.length < 0 || file.length > len(data) {
			return Request{}, errShort
		}
		// No append to one file's bytes may reach the next one's.
		files[file.path], data = data[:file.length:file.length], data[file.length:]
	}
	return Request{Folder: head.Folder, Folders: head.Folders, Files: files, Spec: head.Spec}, nil
}
