package kustomization

import (
	"fmt"
	"regexp"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"

	"sluice/engine/internal/artifact"
)

// Outcome says how a build ended.
type Outcome int32

const (
	// Built: the result is YAML.
	Built Outcome = iota
	// Refused: the result is Flux's message.
	Refused
	// Panicked: kustomize or a library under it did, and the result is Flux's message.
	Panicked
)

const failed = "kustomize build failed: "

// Build builds a folder of the artifact that lies at root in files, folder being relative to it. The result is the YAML over
// which Flux's status.history has its digest, or a message that names paths as in the artifact. Builds run one at a time.
func Build(files filesys.FileSystem, root, folder string, spec Spec) (outcome Outcome, result []byte) {
	fsys := artifact.Confine(root, files)
	refused := func(message string) (Outcome, []byte) {
		return Refused, []byte(artifact.Below(root, withoutAddresses(message)))
	}
	remoteAsked = ""
	defer func() {
		if why := recover(); why != nil {
			_, result = refused(fmt.Sprintf("%srecovered from kustomize build panic: %v", failed, why))
			outcome = Panicked
		}
	}()
	at := filesys.ConfirmedDir(root).Join(folder)
	path, content, err := generate(fsys, at, spec)
	if err != nil {
		return refused(err.Error())
	}
	if err := fsys.Put(path, content); err != nil {
		return refused(err.Error())
	}
	text, err := run(fsys, at)
	if err != nil {
		return refused(failed + wordRemote(err.Error()))
	}
	return Built, text
}

func run(fsys filesys.FileSystem, folder string) ([]byte, error) {
	defer forgetOwnSchema()
	options := &krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}
	objects, err := krusty.MakeKustomizer(options).Run(fsys, folder)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// forgetOwnSchema keeps a schema that an artifact brought from the next build. Kubernetes' own is read by the first build with
// a merge patch, and kept.
func forgetOwnSchema() {
	if openapi.GetSchemaVersion() != kubernetesapi.DefaultOpenAPI {
		openapi.ResetOpenAPI()
	}
}

var addresses = regexp.MustCompile(`&\{(?:0x[0-9a-f]+|<nil>)(?: (?:0x[0-9a-f]+|<nil>))*\}`)

// withoutAddresses cuts what kustomize prints of its own memory: the same failure is to have the same message.
func withoutAddresses(message string) string {
	return addresses.ReplaceAllLiteralString(message, "&{}")
}
