package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

var files = map[string][]byte{
	"a.yaml":              []byte("a"),
	"deploy/b.yaml":       []byte("b"),
	"deploy/prod/c.yaml":  []byte("c"),
	"deploy/.hidden/d":    nil,
	"ünïcode/with a + @ ": []byte("\x00\xff"),
}

func onDisk(t *testing.T) string {
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// everything is what a file system says of a path, in words.
func everything(fsys filesys.FileSystem, path string) string {
	content, readErr := fsys.ReadFile(path)
	folder, file, absErr := fsys.CleanedAbs(path)
	names, listErr := fsys.ReadDir(path)
	missing := errors.Is(readErr, fs.ErrNotExist)
	var walked []string
	walkErr := fsys.Walk(path, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		walked = append(walked, fmt.Sprintf("%s %v", path, info.IsDir()))
		if info.Name() == ".hidden" {
			return filepath.SkipDir
		}
		return nil
	})
	return fmt.Sprintf("read %q %v %v\nabs %q %q %v\nlist %q %v\nwalk %q %v\nexists %v folder %v",
		content, readErr, missing, folder, file, absErr, names, listErr != nil, walked, walkErr,
		fsys.Exists(path), fsys.IsDir(path))
}

func TestTreeAnswersLikeADisk(t *testing.T) {
	root := onDisk(t)
	tree := NewTree(root, []string{"empty", "deploy"}, files)
	for _, name := range []string{
		"", ".", "a.yaml", "a.yaml/", "a.yaml/x", "a.yaml/x/y", "deploy", "deploy/", "deploy/./prod", "deploy/prod/../b.yaml",
		"deploy//b.yaml", "deploy/.hidden", "deploy/.hidden/d", "empty", "missing", "missing/x", "missing/x/y", "deploy/c.yaml",
		"deploy/b.yaml ", " deploy/b.yaml", "deploy/b.yaml\r", "ünïcode", "ünïcode/with a + @ ", "\u00a0a.yaml", "A.yaml",
	} {
		// Cleaned, as kustomize does before it asks.
		path := filepath.Join(root, name)
		want, got := everything(filesys.MakeFsOnDisk(), path), everything(tree, path)
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestTreeGlobs(t *testing.T) {
	root := onDisk(t)
	tree := NewTree(root, []string{"empty", "deploy"}, files)
	for _, pattern := range []string{"/*", "/*/*.yaml", "/deploy/*", "/deploy/.hidden/*", "/[", "/*/*/*"} {
		want, wantErr := filesys.MakeFsOnDisk().Glob(root + pattern)
		got, gotErr := tree.Glob(root + pattern)
		if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
			t.Errorf("%q\n got %v %v\nwant %v %v", pattern, got, gotErr, want, wantErr)
		}
	}
}

func TestTreeIsNeverWritten(t *testing.T) {
	tree := NewTree("/root", nil, files)
	for name, fsys := range map[string]filesys.FileSystem{"tree": tree, "confined": Confine("/root", tree)} {
		for _, path := range []string{"/root/new", "/root/a.yaml", "/elsewhere"} {
			_, opened := fsys.Open(path)
			_, created := fsys.Create(path)
			for op, err := range map[string]error{
				"open": opened, "create": created, "mkdir": fsys.Mkdir(path), "mkdirall": fsys.MkdirAll(path),
				"remove": fsys.RemoveAll(path), "write": fsys.WriteFile(path, []byte("x")),
			} {
				if err == nil {
					t.Errorf("%s: %s %s is taken", name, op, path)
				}
			}
		}
	}
	if content, err := tree.ReadFile("/root/a.yaml"); string(content) != "a" || err != nil {
		t.Errorf("a.yaml is now %q, %v", content, err)
	}
}
