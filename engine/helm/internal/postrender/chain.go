// Package postrender is Flux's chain after the templates. zz_post.go is extracted from helm-controller's package of this name.
package postrender

import (
	"bytes"

	"sluice/engine/helm/internal/postrender/kustomize"
	"sluice/engine/helm/internal/postrenderer"
)

// Spec says what the chain consists of.
type Spec struct {
	Renderers []struct {
		Kustomize *struct {
			Patches []kustomize.Patch `json:"patches"`
			Images  []kustomize.Image `json:"images"`
		} `json:"kustomize"`
	} `json:"renderers"`
	CommonMetadata *struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"commonMetadata"`
	OriginLabels map[string]string `json:"originLabels"`
	Strategy     string            `json:"strategy"`
}

type chain []func(*bytes.Buffer) (*bytes.Buffer, error)

func (c chain) Run(in *bytes.Buffer) (out *bytes.Buffer, err error) {
	for _, each := range c {
		if in, err = each(in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// Chain has the renderers in their order, then the common metadata, then the labels of the origin, which win.
func Chain(spec Spec) postrenderer.PostRenderer {
	var all chain
	for _, each := range spec.Renderers {
		if each.Kustomize != nil {
			all = append(all, (&Kustomize{Patches: each.Kustomize.Patches, Images: each.Kustomize.Images}).Run)
		}
	}
	if spec.CommonMetadata != nil {
		var common []ResMapTransformer
		if spec.CommonMetadata.Labels != nil {
			common = append(common, labelTransformer(spec.CommonMetadata.Labels))
		}
		if spec.CommonMetadata.Annotations != nil {
			common = append(common, annotationTransformer(spec.CommonMetadata.Annotations))
		}
		if len(common) > 0 {
			all = append(all, func(in *bytes.Buffer) (*bytes.Buffer, error) { return transform(in, common...) })
		}
	}
	return append(all, func(in *bytes.Buffer) (*bytes.Buffer, error) {
		return transform(in, labelTransformer(spec.OriginLabels))
	})
}
