// Package record reads and changes records of releases as Helm stores them, and digests them as Flux does.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"sluice/engine/helm/internal/exact"
	"sluice/engine/helm/internal/values"
)

// Observed is what a record says.
type Observed struct {
	Name          string         `json:"name"`
	Namespace     string         `json:"namespace"`
	Version       int            `json:"version"`
	Status        string         `json:"status"`
	Description   string         `json:"description"`
	FirstDeployed string         `json:"firstDeployed"`
	LastDeployed  string         `json:"lastDeployed"`
	Deleted       string         `json:"deleted"`
	Notes         string         `json:"notes"`
	Chart         Chart          `json:"chart"`
	ApplyMethod   string         `json:"applyMethod"`
	Hooks         []Hook         `json:"hooks"`
	Objects       []Object       `json:"objects"`
	Values        map[string]any `json:"values"`
	ConfigDigest  string         `json:"configDigest"`
	Digest        string         `json:"digest"`
}

// Chart is what a chart says of itself.
type Chart struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	AppVersion string `json:"appVersion,omitempty"`
}

// Hook is a hook with its manifest as an object.
type Hook struct {
	Name           string                     `json:"name"`
	Kind           string                     `json:"kind"`
	Path           string                     `json:"path"`
	Manifest       map[string]any             `json:"manifest"`
	Events         []release.HookEvent        `json:"events"`
	Weight         int                        `json:"weight"`
	DeletePolicies []release.HookDeletePolicy `json:"deletePolicies"`
	LastRun        Run                        `json:"lastRun"`
}

// Run is the last run of a hook.
type Run struct {
	StartedAt   string            `json:"startedAt,omitempty"`
	CompletedAt string            `json:"completedAt,omitempty"`
	Phase       release.HookPhase `json:"phase"`
}

// Object is one document of a manifest.
type Object struct {
	Manifest map[string]any `json:"manifest"`
	Template string         `json:"template"`
}

// Change is what changes in a record. What is nil stays.
type Change struct {
	Version       *int    `json:"version"`
	Status        *string `json:"status"`
	Description   *string `json:"description"`
	FirstDeployed *string `json:"firstDeployed"`
	LastDeployed  *string `json:"lastDeployed"`
	Deleted       *string `json:"deleted"`
	ApplyMethod   *string `json:"applyMethod"`
	Hooks         []struct {
		Index          int                         `json:"index"`
		LastRun        *Run                        `json:"lastRun"`
		DeletePolicies *[]release.HookDeletePolicy `json:"deletePolicies"`
	} `json:"hooks"`
}

// Read parses a record that Helm stored.
func Read(text []byte) (*release.Release, error) {
	var rel release.Release
	if err := exact.Unmarshal(text, &rel); err != nil {
		return nil, err
	}
	if rel.Name == "" || rel.Version == 0 || rel.Info == nil || rel.Chart == nil || rel.Chart.Metadata == nil {
		return nil, errors.New("it lacks a name, a version, information or a chart")
	}
	return &rel, errors.Join(exact.Numbers(rel.Config), exact.Numbers(rel.Chart.Values))
}

// Amend changes a record.
func Amend(rel *release.Release, change Change) error {
	set(&rel.Version, change.Version)
	set(&rel.ApplyMethod, change.ApplyMethod)
	set(&rel.Info.Description, change.Description)
	if change.Status != nil {
		rel.Info.Status = common.Status(*change.Status)
	}
	err := errors.Join(
		setTime(&rel.Info.FirstDeployed, change.FirstDeployed),
		setTime(&rel.Info.LastDeployed, change.LastDeployed),
		setTime(&rel.Info.Deleted, change.Deleted),
	)
	for _, each := range change.Hooks {
		if each.Index < 0 || each.Index >= len(rel.Hooks) {
			return fmt.Errorf("there is no hook %d", each.Index)
		}
		hook := rel.Hooks[each.Index]
		if each.DeletePolicies != nil {
			hook.DeletePolicies = *each.DeletePolicies
		}
		if each.LastRun != nil {
			hook.LastRun = release.HookExecution{Phase: each.LastRun.Phase}
			err = errors.Join(err,
				setTime(&hook.LastRun.StartedAt, &each.LastRun.StartedAt),
				setTime(&hook.LastRun.CompletedAt, &each.LastRun.CompletedAt))
		}
	}
	return err
}

func set[Value any](to *Value, from *Value) {
	if from != nil {
		*to = *from
	}
}

func setTime(to *time.Time, from *string) (err error) {
	if from == nil {
		return nil
	}
	if *from == "" {
		*to = time.Time{}
		return nil
	}
	*to, err = time.Parse(time.RFC3339Nano, *from)
	return err
}

// Observe says what a record says. ociDigest is a part of Flux's digest.
func Observe(rel *release.Release, ociDigest string) (Observed, error) {
	digest, err := digestOf(rel, ociDigest)
	if err != nil {
		return Observed{}, err
	}
	configDigest, err := values.Digest(rel.Config)
	if err != nil {
		return Observed{}, err
	}
	objects, err := Objects(rel.Manifest)
	if err != nil {
		return Observed{}, err
	}
	seen := Observed{
		Name: rel.Name, Namespace: rel.Namespace, Version: rel.Version, ApplyMethod: rel.ApplyMethod,
		Status: string(rel.Info.Status), Description: rel.Info.Description, Notes: rel.Info.Notes,
		FirstDeployed: timeText(rel.Info.FirstDeployed), LastDeployed: timeText(rel.Info.LastDeployed), Deleted: timeText(rel.Info.Deleted),
		Chart:   Chart{rel.Chart.Metadata.Name, rel.Chart.Metadata.Version, rel.Chart.Metadata.AppVersion},
		Hooks:   []Hook{},
		Objects: objects, Values: rel.Config, ConfigDigest: configDigest, Digest: digest,
	}
	if seen.Values == nil {
		seen.Values = map[string]any{}
	}
	for _, hook := range rel.Hooks {
		manifest, err := object([]byte(hook.Manifest))
		if err != nil {
			return Observed{}, fmt.Errorf("hook %s: %w", hook.Path, err)
		}
		seen.Hooks = append(seen.Hooks, Hook{
			Name: hook.Name, Kind: hook.Kind, Path: hook.Path, Manifest: manifest, Weight: hook.Weight,
			Events: nonNil(hook.Events), DeletePolicies: nonNil(hook.DeletePolicies),
			LastRun: Run{timeText(hook.LastRun.StartedAt), timeText(hook.LastRun.CompletedAt), hook.LastRun.Phase},
		})
	}
	return seen, nil
}

func nonNil[Item any](items []Item) []Item {
	if items == nil {
		return []Item{}
	}
	return items
}

func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}

const sourceMark = "# Source: "

// Objects reads the documents of a manifest, in its order. A list counts as its items, as for client-go.
func Objects(manifest string) ([]Object, error) {
	found := []Object{}
	for _, document := range strings.Split("\n"+manifest, "\n---") {
		template := ""
		for line := range strings.Lines(document) {
			if path, isMark := strings.CutPrefix(strings.TrimSpace(line), sourceMark); isMark {
				template = path
				break
			}
		}
		read, err := object([]byte(document))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", template, err)
		}
		listed, err := items(read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", template, err)
		}
		for _, each := range listed {
			found = append(found, Object{each, template})
		}
	}
	return found, nil
}

var errItem = errors.New("an item of a list is not an object")

// items are what a list holds, also through lists in it, or the object itself. An item that says nothing of itself has the kind of its list.
func items(read map[string]any) ([]map[string]any, error) {
	listed, isList := read["items"].([]any)
	if len(read) == 0 {
		return nil, nil
	}
	if !isList {
		return []map[string]any{read}, nil
	}
	listKind, _ := read["kind"].(string)
	found := []map[string]any{}
	for _, each := range listed {
		item, isObject := each.(map[string]any)
		if !isObject {
			return nil, errItem
		}
		if item["kind"] == nil && item["apiVersion"] == nil {
			item["kind"], item["apiVersion"] = strings.TrimSuffix(listKind, "List"), read["apiVersion"]
		}
		below, err := items(item)
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}

// object reads YAML as client-go does: whole numbers stay whole.
func object(text []byte) (map[string]any, error) {
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var read map[string]any
	return read, kjson.Unmarshal(asJSON, &read)
}

// Flux's observation of a stored release, whose digest is in the history of a HelmRelease.
type observation struct {
	Name          string         `json:"name"`
	Version       int            `json:"version"`
	Info          release.Info   `json:"info"`
	ChartMetadata chart.Metadata `json:"chartMetadata"`
	Config        map[string]any `json:"config"`
	Manifest      string         `json:"manifest"`
	Hooks         []release.Hook `json:"hooks"`
	Namespace     string         `json:"namespace"`
	OCIDigest     string         `json:"ociDigest,omitempty"`
}

func digestOf(rel *release.Release, ociDigest string) (string, error) {
	seen := observation{
		Name: rel.Name, Version: rel.Version, Info: *rel.Info, ChartMetadata: *rel.Chart.Metadata,
		Manifest: rel.Manifest, Namespace: rel.Namespace, OCIDigest: ociDigest,
	}
	if len(rel.Config) > 0 {
		seen.Config = rel.Config
	}
	for _, hook := range rel.Hooks {
		if !slices.Contains(hook.Events, release.HookTest) {
			seen.Hooks = append(seen.Hooks, *hook)
		}
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(seen); err != nil {
		return "", err
	}
	return values.Sum(text.Bytes()), nil
}
