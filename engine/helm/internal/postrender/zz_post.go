// Code generated from Helm's sources by extract. DO NOT EDIT.

package postrender

import (
	bytes "bytes"
	json "encoding/json"
	builtins "sigs.k8s.io/kustomize/api/builtins"
	krusty "sigs.k8s.io/kustomize/api/krusty"
	provider "sigs.k8s.io/kustomize/api/provider"
	resmap "sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	filesys "sigs.k8s.io/kustomize/kyaml/filesys"
	kustomize "sluice/engine/helm/internal/postrender/kustomize"
	sync "sync"
)

type Kustomize struct {
	// Patches is a list of patches to apply to the rendered manifests.
	Patches []kustomize.Patch
	// Images is a list of images to replace in the rendered manifests.
	Images []kustomize.Image
}

func (k *Kustomize) Run(renderedManifests *bytes.Buffer) (modifiedManifests *bytes.Buffer, err error) {
	fs := filesys.MakeFsInMemory()
	cfg := kustypes.Kustomization{}
	cfg.APIVersion = kustypes.KustomizationVersion
	cfg.Kind = kustypes.KustomizationKind
	cfg.Images = adaptImages(k.Images)

	// Add rendered Helm output as input resource to the Kustomization.
	const input = "helm-output.yaml"
	cfg.Resources = append(cfg.Resources, input)
	if err := writeFile(fs, input, renderedManifests); err != nil {
		return nil, err
	}

	// Add patches.
	for _, m := range k.Patches {
		cfg.Patches = append(cfg.Patches, kustypes.Patch{
			Patch:  m.Patch,
			Target: adaptSelector(m.Target),
		})
	}

	// Write kustomization config to file.
	kustomization, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	if err := writeToFile(fs, "kustomization.yaml", kustomization); err != nil {
		return nil, err
	}
	resMap, err := buildKustomization(fs, ".")
	if err != nil {
		return nil, err
	}
	yaml, err := resMap.AsYaml()
	if err != nil {
		return nil, err
	}
	return bytes.NewBuffer(yaml), nil
}

func writeToFile(fs filesys.FileSystem, path string, content []byte) error {
	helmOutput, err := fs.Create(path)
	if err != nil {
		return err
	}
	if _, err = helmOutput.Write(content); err != nil {
		return err
	}
	if err = helmOutput.Close(); err != nil {
		return err
	}
	return nil
}

func writeFile(fs filesys.FileSystem, path string, content *bytes.Buffer) error {
	helmOutput, err := fs.Create(path)
	if err != nil {
		return err
	}
	if _, err = content.WriteTo(helmOutput); err != nil {
		return err
	}
	if err = helmOutput.Close(); err != nil {
		return err
	}
	return nil
}

func adaptImages(images []kustomize.Image) (output []kustypes.Image) {
	for _, image := range images {
		output = append(output, kustypes.Image{
			Name:    image.Name,
			NewName: image.NewName,
			NewTag:  image.NewTag,
			Digest:  image.Digest,
		})
	}
	return
}

func adaptSelector(selector *kustomize.Selector) (output *kustypes.Selector) {
	if selector != nil {
		output = &kustypes.Selector{}
		output.Gvk.Group = selector.Group
		output.Gvk.Kind = selector.Kind
		output.Gvk.Version = selector.Version
		output.Name = selector.Name
		output.Namespace = selector.Namespace
		output.LabelSelector = selector.LabelSelector
		output.AnnotationSelector = selector.AnnotationSelector
	}
	return
}

var kustomizeRenderMutex sync.Mutex

func buildKustomization(fs filesys.FileSystem, dirPath string) (resmap.ResMap, error) {
	// Temporary workaround for concurrent map read and map write bug
	// https://github.com/kubernetes-sigs/kustomize/issues/3659
	kustomizeRenderMutex.Lock()
	defer kustomizeRenderMutex.Unlock()

	buildOptions := &krusty.Options{
		LoadRestrictions: kustypes.LoadRestrictionsNone,
		PluginConfig:     kustypes.DisabledPluginConfig(),
	}

	k := krusty.MakeKustomizer(buildOptions)
	return k.Run(fs, dirPath)
}

type ResMapTransformer interface {
	Transform(resmap.ResMap) error
}

func transform(renderedManifests *bytes.Buffer, transformers ...ResMapTransformer) (*bytes.Buffer, error) {
	resFactory := provider.NewDefaultDepProvider().GetResourceFactory()
	resMapFactory := resmap.NewFactory(resFactory)

	resMap, err := resMapFactory.NewResMapFromBytes(renderedManifests.Bytes())
	if err != nil {
		return nil, err
	}

	for _, t := range transformers {
		if err := t.Transform(resMap); err != nil {
			return nil, err
		}
	}

	yaml, err := resMap.AsYaml()
	if err != nil {
		return nil, err
	}

	return bytes.NewBuffer(yaml), nil
}

func labelTransformer(labels map[string]string) ResMapTransformer {
	return &builtins.LabelTransformerPlugin{
		Labels: labels,
		FieldSpecs: []kustypes.FieldSpec{
			{Path: "metadata/labels", CreateIfNotPresent: true},
		},
	}
}

func annotationTransformer(annotations map[string]string) ResMapTransformer {
	return &builtins.AnnotationsTransformerPlugin{
		Annotations: annotations,
		FieldSpecs: []kustypes.FieldSpec{
			{Path: "metadata/annotations", CreateIfNotPresent: true},
		},
	}
}
