package artifact

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Confined shows a build nothing but the artifact below a root of another file system, and refuses what leads out of it in
// the words of Flux's secure file system. One file can be put in place of the artifact's own; nothing else is written.
type Confined struct {
	root    string
	inner   filesys.FileSystem
	written string
	content []byte
}

// Confine makes a view of inner, of which nothing but root and what is below it can be seen.
func Confine(root string, inner filesys.FileSystem) *Confined {
	return &Confined{root: filepath.Clean(root), inner: inner}
}

// Put has path read as content from now on.
func (c *Confined) Put(path string, content []byte) error {
	if err := c.check("write", path); err != nil {
		return err
	}
	c.written, c.content = filepath.Clean(path), content
	return nil
}

func (c *Confined) isInside(path string) bool {
	clean := filepath.Clean(path)
	return clean == c.root || strings.HasPrefix(clean, c.root+"/")
}

func (c *Confined) check(op, path string) error {
	if c.isInside(path) {
		return nil
	}
	why := fmt.Errorf("path '%s' is not in or below '%s'", path, c.root)
	return fmt.Errorf("fs-security-constraint %s %s: %w", op, path, why)
}

func (c *Confined) isWritten(path string) bool {
	return c.written != "" && filepath.Clean(path) == c.written
}

func (c *Confined) ReadFile(path string) ([]byte, error) {
	if err := c.check("read", path); err != nil {
		return nil, err
	}
	if c.isWritten(path) {
		return c.content, nil
	}
	return c.inner.ReadFile(path)
}

// CleanedAbs words a path out of the artifact as Flux does: a folder above it is refused, and of anything else it says that
// there is nothing.
func (c *Confined) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	clean := filepath.Clean(path)
	if c.isInside(clean) {
		return c.inner.CleanedAbs(clean)
	}
	if clean == "/" || strings.HasPrefix(c.root, clean+"/") {
		return "", "", c.check("abs", path)
	}
	missing := &fs.PathError{Op: "lstat", Path: clean, Err: errMissing}
	return "", "", fmt.Errorf("evalsymlink failure on '%s' : %w", path, missing)
}

func (c *Confined) Exists(path string) bool {
	return c.isInside(path) && (c.isWritten(path) || c.inner.Exists(path))
}

func (c *Confined) IsDir(path string) bool {
	return c.isInside(path) && c.inner.IsDir(path)
}

func (c *Confined) ReadDir(path string) ([]string, error) {
	if err := c.check("open", path); err != nil {
		return nil, err
	}
	return c.inner.ReadDir(path)
}

func (c *Confined) Glob(pattern string) ([]string, error) {
	paths, err := c.inner.Glob(pattern)
	var inside []string
	for _, path := range paths {
		if c.isInside(path) {
			inside = append(inside, path)
		}
	}
	return inside, err
}

func (c *Confined) Walk(path string, visit filepath.WalkFunc) error {
	if err := c.check("walk", path); err != nil {
		return err
	}
	return c.inner.Walk(path, func(path string, info os.FileInfo, err error) error {
		if outside := c.check("walk", path); outside != nil {
			return outside
		}
		return visit(path, info, err)
	})
}

func (c *Confined) Open(path string) (filesys.File, error)   { return nil, refuseWrite("open", path) }
func (c *Confined) Create(path string) (filesys.File, error) { return nil, refuseWrite("create", path) }
func (c *Confined) Mkdir(path string) error                  { return refuseWrite("mkdir", path) }
func (c *Confined) MkdirAll(path string) error               { return refuseWrite("mkdir", path) }
func (c *Confined) RemoveAll(path string) error              { return refuseWrite("remove", path) }
func (c *Confined) WriteFile(path string, _ []byte) error    { return refuseWrite("write", path) }

var _ filesys.FileSystem = (*Confined)(nil)
