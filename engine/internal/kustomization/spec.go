// Package kustomization builds a folder of an artifact as Flux's kustomize-controller v1.9.4 does: it finds or writes the
// kustomization file, lays a Kustomization's spec over it, and runs kustomize.
package kustomization

// Spec is the part of a Flux Kustomization's spec that a build needs.
type Spec struct {
	TargetNamespace         *string  `json:"targetNamespace"`
	NamePrefix              *string  `json:"namePrefix"`
	NameSuffix              *string  `json:"nameSuffix"`
	Patches                 []Patch  `json:"patches"`
	Images                  []Image  `json:"images"`
	Components              []string `json:"components"`
	IgnoreMissingComponents bool     `json:"ignoreMissingComponents"`
	BuildMetadata           []string `json:"buildMetadata"`
}

// Patch is a strategic merge patch or a JSON patch.
type Patch struct {
	Patch  string    `json:"patch"`
	Target *Selector `json:"target"`
}

// Selector says which objects a patch is for.
type Selector struct {
	Group              string `json:"group"`
	Version            string `json:"version"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	Namespace          string `json:"namespace"`
	LabelSelector      string `json:"labelSelector"`
	AnnotationSelector string `json:"annotationSelector"`
}

// Image says what another image is to be used in place of name.
type Image struct {
	Name    string `json:"name"`
	NewName string `json:"newName"`
	NewTag  string `json:"newTag"`
	Digest  string `json:"digest"`
}
