// Code generated from Helm's sources by extract. DO NOT EDIT.

package values

import (
	goyaml "go.yaml.in/yaml/v2"
	common "helm.sh/helm/v4/pkg/chart/common"
	strvals "helm.sh/helm/v4/pkg/strvals"
	io "io"
	yaml "sigs.k8s.io/yaml"
	sort "sort"
	strings "strings"
)

type PreEncoder func(goyaml.MapSlice)

func Encode(w io.Writer, data map[string]interface{}, pe ...PreEncoder) error {
	ms := yaml.JSONObjectToYAMLObject(data)
	for _, m := range pe {
		m(ms)
	}
	return goyaml.NewEncoder(w).Encode(ms)
}

func sortSlice(s []interface{}) {
	for _, item := range s {
		if nestedMS, ok := item.(goyaml.MapSlice); ok {
			SortMapSlice(nestedMS)
		} else if nestedSlice, ok := item.([]interface{}); ok {
			sortSlice(nestedSlice)
		}
	}
}

func SortMapSlice(ms goyaml.MapSlice) {
	sort.Slice(ms, func(i, j int) bool {
		return ms[i].Key.(string) < ms[j].Key.(string)
	})

	for _, item := range ms {
		if nestedMS, ok := item.Value.(goyaml.MapSlice); ok {
			SortMapSlice(nestedMS)
		} else if nestedSlice, ok := item.Value.([]interface{}); ok {
			sortSlice(nestedSlice)
		}
	}
}

func MergeMaps(a, b map[string]interface{}) map[string]interface{} {
	out := make(map[string]interface{}, len(a))
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		if v, ok := v.(map[string]interface{}); ok {
			if bv, ok := out[k]; ok {
				if bv, ok := bv.(map[string]interface{}); ok {
					out[k] = MergeMaps(bv, v)
					continue
				}
			}
		}
		out[k] = v
	}
	return out
}

func ReplacePathValue(values common.Values, path string, value string) error {
	const (
		singleQuote = "'"
		doubleQuote = `"`
	)
	isSingleQuoted := strings.HasPrefix(value, singleQuote) && strings.HasSuffix(value, singleQuote)
	isDoubleQuoted := strings.HasPrefix(value, doubleQuote) && strings.HasSuffix(value, doubleQuote)
	if isSingleQuoted || isDoubleQuoted {
		value = strings.Trim(value, singleQuote+doubleQuote)
		value = path + "=" + value
		return strvals.ParseIntoString(value, values)
	}
	value = path + "=" + value
	return strvals.ParseInto(value, values)
}

func ReplacePathLiteralValue(values common.Values, path string, value string) error {
	// Order matters: backslash must be escaped first so subsequent escapes
	// don't get re-escaped.
	escaper := strings.NewReplacer(
		`\`, `\\`,
		`,`, `\,`,
		`[`, `\[`,
		`]`, `\]`,
		`{`, `\{`,
		`}`, `\}`,
	)
	return strvals.ParseIntoString(path+"="+escaper.Replace(value), values)
}
