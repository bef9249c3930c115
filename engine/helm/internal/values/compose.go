// Package values composes the values of a release as Flux does, and digests them. zz_values.go is extracted from Flux's
// package chartutil.
package values

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"helm.sh/helm/v4/pkg/chart/common"
	"sigs.k8s.io/yaml"

	"sluice/engine/helm/internal/exact"
)

// Text is what one entry of valuesFrom refers to.
type Text struct {
	Text string `json:"text"`
	// Where the text is set, in the grammar of --set. Where it is empty the text is YAML.
	TargetPath string `json:"targetPath"`
	IsLiteral  bool   `json:"isLiteral"`
}

// ReferenceError says which entry cannot be read or set.
type ReferenceError struct {
	Reference int
	Err       error
}

func (e *ReferenceError) Error() string { return e.Err.Error() }
func (e *ReferenceError) Unwrap() error { return e.Err }

// Compose is the loop of Flux's ChartValuesFromReferences: maps are shared between the values and what they are merged of, so
// that a text set by path may change the inline values too.
func Compose(from []Text, inline map[string]any) (map[string]any, error) {
	result := map[string]any{}
	for at, each := range from {
		if each.TargetPath == "" {
			read, err := fromYAML(each.Text)
			if err != nil {
				return nil, &ReferenceError{at, err}
			}
			result = MergeMaps(result, read)
			continue
		}
		result = MergeMaps(result, inline)
		set := ReplacePathValue
		if each.IsLiteral {
			set = ReplacePathLiteralValue
		}
		if err := set(result, each.TargetPath, each.Text); err != nil {
			return nil, &ReferenceError{at, err}
		}
	}
	return MergeMaps(result, inline), nil
}

// fromYAML is Helm's ReadValues, which takes every number for a float64.
func fromYAML(text string) (common.Values, error) {
	var values common.Values
	if err := yaml.Unmarshal([]byte(text), &values, withNumbers); err != nil {
		return nil, err
	}
	return values, exact.Numbers(values)
}

func withNumbers(decoder *json.Decoder) *json.Decoder {
	decoder.UseNumber()
	return decoder
}

// Inline reads spec.values. What is not a map counts as no values.
func Inline(text json.RawMessage) map[string]any {
	var inline map[string]any
	if exact.Unmarshal(text, &inline) != nil || inline == nil || exact.Numbers(inline) != nil {
		return map[string]any{}
	}
	return inline
}

// Digest is Flux's configDigest: of YAML with sorted keys, and of nothing where there are no values.
func Digest(values map[string]any) (string, error) {
	var text bytes.Buffer
	if len(values) > 0 {
		if err := Encode(&text, values, SortMapSlice); err != nil {
			return "", err
		}
	}
	return Sum(text.Bytes()), nil
}

// Sum is a digest with its algorithm before it.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
