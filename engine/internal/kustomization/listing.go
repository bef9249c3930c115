package kustomization

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// manifestsIn lists what a folder without a kustomization file holds, as `./path` in the order of a walk: YAML files, each of
// which must be Kubernetes objects, and folders with a kustomization file, which are not looked into.
func manifestsIn(fsys filesys.FileSystem, folder string) ([]string, error) {
	var found []string
	objects := provider.NewDefaultDepProvider().GetResourceFactory()
	err := fsys.Walk(folder, func(path string, info os.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case path == folder:
			return nil
		case info.IsDir():
			if fileIn(fsys, path) == "" {
				return nil
			}
			found = append(found, strings.Replace(path, folder, ".", 1))
			return filepath.SkipDir
		}
		if extension := filepath.Ext(path); extension != ".yaml" && extension != ".yml" {
			return nil
		}
		content, err := fsys.ReadFile(path)
		if err != nil {
			return err
		}
		if err := decode(objects, path, content); err != nil {
			return err
		}
		found = append(found, strings.Replace(path, folder, ".", 1))
		return nil
	})
	return found, err
}

func decode(objects *resource.Factory, path string, content []byte) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("recovered from panic while parsing YAML file %s: %v", filepath.Base(path), why)
		}
	}()
	if _, err := objects.SliceFromBytes(content); err != nil {
		return fmt.Errorf("failed to decode Kubernetes YAML from %s: %w", path, err)
	}
	return nil
}
