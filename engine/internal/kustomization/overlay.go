package kustomization

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// overlay puts into a kustomization file what the spec asks for, in Flux's order.
func overlay(file *types.Kustomization, fsys filesys.FileSystem, folder string, spec Spec) error {
	replace(&file.Namespace, spec.TargetNamespace)
	replace(&file.NamePrefix, spec.NamePrefix)
	replace(&file.NameSuffix, spec.NameSuffix)
	for _, patch := range spec.Patches {
		file.Patches = append(file.Patches, types.Patch{Patch: patch.Patch, Target: selector(patch.Target)})
	}
	for _, component := range spec.Components {
		if !isLocalAndRelative(component) {
			return fmt.Errorf("component path '%s' must be local and relative", component)
		}
		if spec.IgnoreMissingComponents && !fsys.Exists(filepath.Join(folder, component)) {
			continue
		}
		file.Components = append(file.Components, component)
	}
	for _, image := range spec.Images {
		file.Images = withImage(file.Images, image)
	}
	if len(spec.BuildMetadata) > 0 {
		file.BuildMetadata = spec.BuildMetadata
	}
	return nil
}

func replace(field *string, value *string) {
	if value != nil {
		*field = *value
	}
}

func selector(target *Selector) *types.Selector {
	if target == nil {
		return nil
	}
	return &types.Selector{
		ResId: resid.ResId{
			Gvk:       resid.Gvk{Group: target.Group, Version: target.Version, Kind: target.Kind},
			Name:      target.Name,
			Namespace: target.Namespace,
		},
		LabelSelector:      target.LabelSelector,
		AnnotationSelector: target.AnnotationSelector,
	}
}

// withImage merges an image into the entry of its name. Tag and digest choose the version together: one clears the other.
func withImage(images []types.Image, image Image) []types.Image {
	index := slices.IndexFunc(images, func(present types.Image) bool { return present.Name == image.Name })
	if index < 0 {
		added := types.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest}
		return append(images, added)
	}
	if image.NewName != "" {
		images[index].NewName = image.NewName
	}
	if image.NewTag != "" || image.Digest != "" {
		images[index].NewTag, images[index].Digest = image.NewTag, image.Digest
	}
	return images
}

var remotePrefixes = []string{"git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"}

func isLocalAndRelative(path string) bool {
	for _, prefix := range remotePrefixes {
		if len(prefix) < len(path) && strings.ToLower(path[:len(prefix)]) == prefix {
			return false
		}
	}
	return !filepath.IsAbs(path) && !filepath.IsAbs(strings.TrimPrefix(strings.ToLower(path), "file://"))
}
