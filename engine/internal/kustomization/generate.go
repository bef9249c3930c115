package kustomization

import (
	"path/filepath"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// generate answers the path and the content of the kustomization file to build: the folder's own, of which fields that
// kustomize does not know are dropped, or one that lists what is in the folder; in both the spec has been laid over.
func generate(fsys filesys.FileSystem, folder string, spec Spec) (path string, content []byte, err error) {
	path, content, isOwn, err := ownOrListing(fsys, folder)
	if err != nil {
		return "", nil, err
	}
	file := emptyFile()
	if err := yaml.Unmarshal(content, &file); err != nil {
		return "", nil, err
	}
	if isOwn && len(file.Resources) == 0 {
		// kustomize refuses a file that asks for nothing. Where a generator adds objects, this shows in them, as in Flux.
		file.BuildMetadata = []string{types.OriginAnnotations}
	}
	if err := overlay(&file, fsys, folder, spec); err != nil {
		return "", nil, err
	}
	content, err = yaml.Marshal(file)
	return path, content, err
}

func ownOrListing(fsys filesys.FileSystem, folder string) (path string, content []byte, isOwn bool, err error) {
	if own := fileIn(fsys, folder); own != "" {
		content, err := fsys.ReadFile(own)
		return own, content, true, err
	}
	resources, err := manifestsIn(fsys, folder)
	if err != nil {
		return "", nil, false, err
	}
	listing := emptyFile()
	if len(resources) == 0 {
		// kustomize refuses a file that asks for nothing.
		listing.Namespace = "_placeholder"
	} else {
		listing.Resources = resources
	}
	content, err = yaml.Marshal(listing)
	return filepath.Join(folder, konfig.DefaultKustomizationFileName()), content, false, err
}

// fileIn is the first of a folder's kustomization files, or "".
func fileIn(fsys filesys.FileSystem, folder string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if path := filepath.Join(folder, name); fsys.Exists(path) && !fsys.IsDir(path) {
			return path
		}
	}
	return ""
}

func emptyFile() types.Kustomization {
	return types.Kustomization{
		TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
	}
}
