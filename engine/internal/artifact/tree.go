// Package artifact holds the files of one artifact, the only ones that a build can read.
package artifact

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Tree is a file system in memory that cannot be written. It answers, also in its errors, as a disk with the same files
// would; unlike kustomize's own file system in memory it takes names of any characters and finds each in one step.
// Paths are absolute.
type Tree struct {
	files map[string][]byte
	// The names of what is in each folder, in order.
	folders map[string][]string
}

// NewTree makes a tree below root. Paths are relative to it, with slashes; the folders above each file are made.
func NewTree(root string, folders []string, files map[string][]byte) *Tree {
	t := &Tree{files: make(map[string][]byte, len(files)), folders: map[string][]string{}}
	t.addFolder(filepath.Clean(root))
	for _, folder := range folders {
		t.addFolder(filepath.Join(root, folder))
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		t.files[path] = content
		t.addEntry(path)
	}
	for folder := range t.folders {
		slices.Sort(t.folders[folder])
	}
	return t
}

func (t *Tree) addFolder(path string) {
	if _, known := t.folders[path]; known {
		return
	}
	t.folders[path] = nil
	if path != "/" {
		t.addEntry(path)
	}
}

func (t *Tree) addEntry(path string) {
	parent := filepath.Dir(path)
	t.addFolder(parent)
	t.folders[parent] = append(t.folders[parent], filepath.Base(path))
}

// ReadFile answers the content itself, not a copy: kustomize does not write into what it loads.
func (t *Tree) ReadFile(path string) ([]byte, error) {
	if content, found := t.files[filepath.Clean(path)]; found {
		return content, nil
	}
	if t.IsDir(path) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errIsFolder}
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: t.whyMissing(path)}
}

// CleanedAbs splits a path into its folder and its file; there are no links to follow.
func (t *Tree) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	clean := filepath.Clean(path)
	if _, found := t.folders[clean]; found {
		return filesys.ConfirmedDir(clean), "", nil
	}
	if _, found := t.files[clean]; found {
		return filesys.ConfirmedDir(filepath.Dir(clean)), filepath.Base(clean), nil
	}
	why := t.whyMissing(clean)
	if why == errMissing {
		why = &fs.PathError{Op: "lstat", Path: t.firstMissing(clean), Err: why}
	}
	return "", "", fmt.Errorf("evalsymlink failure on '%s' : %w", path, why)
}

// firstMissing is where a walk from the root towards path ends.
func (t *Tree) firstMissing(path string) string {
	for parent := filepath.Dir(path); ; parent = filepath.Dir(path) {
		if _, found := t.folders[parent]; found {
			return path
		}
		path = parent
	}
}

// whyMissing tells a file in the middle of a path from a path that leads nowhere.
func (t *Tree) whyMissing(path string) error {
	if _, isFile := t.files[filepath.Dir(t.firstMissing(filepath.Clean(path)))]; isFile {
		return errNotFolder
	}
	if _, isFile := t.files[t.firstMissing(filepath.Clean(path))]; isFile {
		return errNotFolder
	}
	return errMissing
}

func (t *Tree) Exists(path string) bool {
	_, isFile := t.files[filepath.Clean(path)]
	return isFile || t.IsDir(path)
}

func (t *Tree) IsDir(path string) bool {
	_, found := t.folders[filepath.Clean(path)]
	return found
}

func (t *Tree) ReadDir(path string) ([]string, error) {
	names, found := t.folders[filepath.Clean(path)]
	if !found {
		return nil, &fs.PathError{Op: "open", Path: path, Err: t.whyMissing(path)}
	}
	return slices.Clone(names), nil
}

// Glob answers the files and folders whose whole path matches.
func (t *Tree) Glob(pattern string) ([]string, error) {
	var matching []string
	for _, paths := range [][]string{slices.Collect(maps.Keys(t.files)), slices.Collect(maps.Keys(t.folders))} {
		for _, path := range paths {
			matches, err := filepath.Match(pattern, path)
			if err != nil {
				return nil, err
			}
			if matches {
				matching = append(matching, path)
			}
		}
	}
	slices.Sort(matching)
	if filesys.IsHiddenFilePath(pattern) {
		return matching, nil
	}
	return filesys.RemoveHiddenFiles(matching), nil
}

// Walk visits a folder before what is in it, and that in the order of names.
func (t *Tree) Walk(path string, visit filepath.WalkFunc) error {
	err := t.walk(filepath.Clean(path), visit)
	if err == filepath.SkipDir || err == filepath.SkipAll {
		return nil
	}
	return err
}

func (t *Tree) walk(path string, visit filepath.WalkFunc) error {
	names, isFolder := t.folders[path]
	content, isFile := t.files[path]
	if !isFolder && !isFile {
		return visit(path, nil, &fs.PathError{Op: "lstat", Path: path, Err: t.whyMissing(path)})
	}
	info := entry{name: filepath.Base(path), size: len(content), folder: isFolder}
	if err := visit(path, info, nil); err != nil {
		if isFolder && err == filepath.SkipDir {
			return nil
		}
		return err
	}
	for _, name := range names {
		if err := t.walk(filepath.Join(path, name), visit); err != nil {
			if err == filepath.SkipDir {
				// A file asks to leave out what follows it in its folder.
				return nil
			}
			return err
		}
	}
	return nil
}

func (t *Tree) Open(path string) (filesys.File, error)   { return nil, refuseWrite("open", path) }
func (t *Tree) Create(path string) (filesys.File, error) { return nil, refuseWrite("create", path) }
func (t *Tree) Mkdir(path string) error                  { return refuseWrite("mkdir", path) }
func (t *Tree) MkdirAll(path string) error               { return refuseWrite("mkdir", path) }
func (t *Tree) RemoveAll(path string) error              { return refuseWrite("remove", path) }
func (t *Tree) WriteFile(path string, _ []byte) error    { return refuseWrite("write", path) }

func refuseWrite(op, path string) error {
	return &fs.PathError{Op: op, Path: path, Err: errReadOnly}
}

// Words of Linux, which WebAssembly's own differ from in their capitals.
const (
	errMissing   = plainError("no such file or directory")
	errNotFolder = plainError("not a directory")
	errIsFolder  = plainError("is a directory")
	errReadOnly  = plainError("read-only file system")
)

type plainError string

func (e plainError) Error() string        { return string(e) }
func (e plainError) Is(target error) bool { return e == errMissing && target == fs.ErrNotExist }

type entry struct {
	name   string
	size   int
	folder bool
}

func (e entry) Name() string       { return e.name }
func (e entry) Size() int64        { return int64(e.size) }
func (e entry) IsDir() bool        { return e.folder }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) Sys() any           { return nil }
func (e entry) Mode() os.FileMode {
	if e.folder {
		return os.ModeDir | 0o755
	}
	return 0o644
}

var _ filesys.FileSystem = (*Tree)(nil)

// Below is a path in an artifact as its author knows it, wherever the artifact lies.
func Below(root, text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, root+"/", ""), root, ".")
}
