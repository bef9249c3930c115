// Package render loads charts, composes their values and renders releases with Helm's own code.
package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/semver/v3"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"

	"sluice/engine/helm/internal/action"
	"sluice/engine/helm/internal/exact"
	"sluice/engine/helm/internal/postrender"
	"sluice/engine/helm/internal/record"
	"sluice/engine/helm/internal/values"
)

// Chart is a packaged chart and the values of its release.
type Chart struct {
	VersionSuffix string `json:"versionSuffix"`
	Values        struct {
		From   []values.Text   `json:"from"`
		Inline json.RawMessage `json:"inline"`
	} `json:"values"`
}

// Request is a release to render.
type Request struct {
	Chart
	Release struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		Revision  int    `json:"revision"`
	} `json:"release"`
	Action                string          `json:"action"`
	PostRender            postrender.Spec `json:"postRender"`
	KubeVersion           string          `json:"kubeVersion"`
	APIVersions           []string        `json:"apiVersions"`
	SkipsSchemaValidation bool            `json:"skipsSchemaValidation"`
}

// ChartError says that an archive is no chart.
type ChartError struct{ error }

// ValuesError says that values cannot be composed.
type ValuesError struct{ error }

func (e ValuesError) Unwrap() error { return e.error }

// Lookup answers the function of templates of this name.
type Lookup = func(apiVersion, kind, namespace, name string) (map[string]any, error)

// Prepared is a chart and the values of its release, before anything is rendered.
type Prepared struct {
	Chart        record.Chart   `json:"chart"`
	ConfigDigest string         `json:"configDigest"`
	Values       map[string]any `json:"values"`
}

// Prepare loads a chart and composes the values.
func Prepare(ask Chart, archive []byte) (Prepared, error) {
	// Flux reads the values before it fetches the chart.
	config, err := composed(ask)
	if err != nil {
		return Prepared{}, err
	}
	chrt, err := load(ask, archive)
	if err != nil {
		return Prepared{}, err
	}
	digest, err := values.Digest(config)
	if err != nil {
		return Prepared{}, ValuesError{err}
	}
	return Prepared{record.Chart{Name: chrt.Metadata.Name, Version: chrt.Metadata.Version, AppVersion: chrt.Metadata.AppVersion}, digest, config}, nil
}

func load(ask Chart, archive []byte) (*chart.Chart, error) {
	chrt, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, ChartError{err}
	}
	if ask.VersionSuffix == "" {
		return chrt, nil
	}
	version, err := semver.NewVersion(chrt.Metadata.Version)
	if err != nil {
		return nil, ChartError{fmt.Errorf("invalid chart version %s", chrt.Metadata.Version)}
	}
	// As Flux marks a chart with the digest of its artifact: in place of other build metadata.
	marked, err := version.SetMetadata(strings.TrimPrefix(ask.VersionSuffix, "+"))
	if err != nil {
		return nil, ChartError{err}
	}
	chrt.Metadata.Version = marked.String()
	return chrt, nil
}

func composed(ask Chart) (map[string]any, error) {
	config, err := values.Compose(ask.Values.From, values.Inline(ask.Values.Inline))
	if err != nil {
		return nil, ValuesError{err}
	}
	return config, nil
}

// Rendered is a release that is not stored yet, and the definitions of its chart.
type Rendered struct {
	Release *release.Release
	CRDs    []record.Object
}

// enabled is a chart without the dependencies that the values disable, and the values: laid over those of the former release, if there is one.
func enabled(ask Chart, archive []byte, former *release.Release) (*chart.Chart, map[string]any, error) {
	config, err := composed(ask)
	if err != nil {
		return nil, nil, err
	}
	chrt, err := load(ask, archive)
	if err != nil {
		return nil, nil, err
	}
	if former != nil {
		// As reuseValues of Helm's upgrade: the values of the former chart stay too.
		old, err := util.CoalesceValues(former.Chart, former.Config)
		if err != nil {
			return nil, nil, fmt.Errorf("failed to rebuild old values: %w", err)
		}
		config, chrt.Values = util.CoalesceTables(config, former.Config), old
	}
	absentIn := absentDependencies(chrt)
	if err := chartutil.ProcessDependencies(chrt, config); err != nil {
		return nil, nil, fmt.Errorf("chart dependencies processing failed: %w", err)
	}
	if absent := absentIn(chrt); len(absent) > 0 {
		return nil, nil, fmt.Errorf("found in Chart.yaml, but missing in charts/ directory: %s; "+
			"run helm dependency build before the chart is packaged, or disable the dependency by its condition or tags", strings.Join(absent, ", "))
	}
	return chrt, config, nil
}

// absentDependencies looks, as Helm's commands do before they act, which dependencies that a chart names are not in charts/; not
// those of its subcharts, which may use what the chart above brings. The answer names those that are still wanted once values have
// disabled others. Without them a release would be made of a part of the chart, and an upgrade would delete the rest.
func absentDependencies(chrt *chart.Chart) func(*chart.Chart) []string {
	// By the entry itself: its name becomes its alias.
	names := map[*chart.Dependency]string{}
	for _, wanted := range chrt.Metadata.Dependencies {
		isIt := func(each *chart.Chart) bool { return each.Name() == wanted.Name }
		if wanted != nil && !slices.ContainsFunc(chrt.Dependencies(), isIt) {
			names[wanted] = wanted.Name
		}
	}
	return func(enabled *chart.Chart) []string {
		var absent []string
		for _, wanted := range enabled.Metadata.Dependencies {
			if name, isAbsent := names[wanted]; isAbsent {
				absent = append(absent, name)
			}
		}
		return absent
	}
}

// Reused digests the values of a release that is made of the former one, as they are once its record is read again.
func Reused(ask Chart, former *release.Release) (string, error) {
	config, err := composed(ask)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(util.CoalesceTables(config, former.Config))
	if err != nil {
		return "", ValuesError{err}
	}
	var read map[string]any
	if err := errors.Join(exact.Unmarshal(text, &read), exact.Numbers(read)); err != nil {
		return "", ValuesError{err}
	}
	return values.Digest(read)
}

// Definitions reads crds/ of a chart and of its enabled dependencies. Nothing is rendered.
func Definitions(ask Chart, archive []byte, former *release.Release) ([]record.Object, error) {
	chrt, _, err := enabled(ask, archive, former)
	if err != nil {
		return nil, err
	}
	found, err := definitions(chrt)
	if err != nil {
		return nil, fmt.Errorf("failed to apply CustomResourceDefinitions: %w", err)
	}
	return found, nil
}

// Render renders a release. The values are laid over those of the former one, if there is one.
func Render(ask Request, archive []byte, former *release.Release, lookup Lookup) (Rendered, error) {
	chrt, config, err := enabled(ask.Chart, archive, former)
	if err != nil {
		return Rendered{}, err
	}
	kube, err := common.ParseKubeVersion(ask.KubeVersion)
	if err != nil {
		return Rendered{}, err
	}
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion, capabilities.APIVersions = *kube, ask.APIVersions
	isUpgrade := ask.Action == "upgrade"
	toRender, err := util.ToRenderValuesWithSchemaValidation(chrt, config, common.ReleaseOptions{
		Name: ask.Release.Name, Namespace: ask.Release.Namespace, Revision: ask.Release.Revision,
		IsInstall: !isUpgrade, IsUpgrade: isUpgrade,
	}, capabilities, ask.SkipsSchemaValidation)
	if err != nil {
		return Rendered{}, withoutAttempts(err)
	}
	helm := &action.Configuration{Capabilities: capabilities, CustomTemplateFuncs: template.FuncMap{"lookup": lookup}}
	hooks, manifest, notes, err := helm.Render(chrt, toRender, postrender.Chain(ask.PostRender), ask.PostRender.Strategy)
	if err != nil {
		return Rendered{}, err
	}
	rel := &release.Release{
		Name: ask.Release.Name, Namespace: ask.Release.Namespace, Version: ask.Release.Revision, Chart: chrt, Config: config,
		Info:        &release.Info{Status: rcommon.StatusUnknown, Notes: notes},
		Manifest:    manifest,
		Hooks:       hooks,
		ApplyMethod: string(release.ApplyMethodServerSideApply),
	}
	// As Flux's inventory: those before one that cannot be read. It fails nothing here, since with the policy Skip none is wanted.
	crds, _ := definitions(chrt)
	return Rendered{rel, crds}, nil
}

var schemaElsewhere = regexp.MustCompile(`(?m)^failing loading "((?:https?|file)://[^"\n]*)": .*$`)

// withoutAttempts says of a schema that is elsewhere that none is read, in place of why the network or the file could not be reached.
func withoutAttempts(err error) error {
	text := schemaElsewhere.ReplaceAllStringFunc(err.Error(), func(line string) string {
		at := schemaElsewhere.FindStringSubmatch(line)[1]
		if parsed, err := url.Parse(at); err == nil {
			at = parsed.Redacted()
		}
		return fmt.Sprintf("failing loading %q: a schema of another file or server is not read: "+
			"copy it into values.schema.json, or set disableSchemaValidation", at)
	})
	return errors.New(text)
}

// definitions reads crds/ of the chart and its enabled dependencies. Their order is that of the files, since the charts come out of a map.
func definitions(chrt *chart.Chart) ([]record.Object, error) {
	files := chrt.CRDObjects()
	slices.SortStableFunc(files, func(a, b chart.CRD) int { return strings.Compare(a.Filename, b.Filename) })
	found := []record.Object{}
	for _, file := range files {
		objects, err := record.Objects(string(file.File.Data))
		if err != nil {
			return found, fmt.Errorf("failed to parse CustomResourceDefinitions from %s: %w", file.Name, err)
		}
		for _, each := range objects {
			found = append(found, record.Object{Manifest: each.Manifest, Template: file.Filename})
		}
	}
	return found, nil
}
