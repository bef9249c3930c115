// Package action has Helm's rendering of a release: zz_action.go is extracted from Helm's own package of this name, which brings
// clients of the API server and of registries along.
package action

import (
	"errors"
	"text/template"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/client-go/rest"

	"sluice/engine/helm/internal/postrenderer"
)

// Configuration has what renderResources reads of Helm's type of this name, of which it is a method.
type Configuration struct {
	Capabilities        *common.Capabilities
	CustomTemplateFuncs template.FuncMap
	RESTClientGetter    interface{ ToRESTConfig() (*rest.Config, error) }
}

func (cfg *Configuration) getCapabilities() (*common.Capabilities, error) {
	return cfg.Capabilities, nil
}

func writeToFile(string, string, string, bool) error { return errors.New("there is no folder here") }

// Render renders a chart as an install or an upgrade does: without definitions, and with the notes of the chart alone.
func (cfg *Configuration) Render(chrt *chart.Chart, values common.Values, post postrenderer.PostRenderer, strategy string) (
	hooks []*release.Hook, manifest string, notes string, err error,
) {
	hooks, text, notes, err := cfg.renderResources(chrt, values, "", "", false, false, false, post, false, false, false,
		PostRenderStrategy(strategy))
	if err != nil {
		return nil, "", "", err
	}
	return hooks, text.String(), notes, nil
}
