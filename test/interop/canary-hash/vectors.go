package main

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "sigs.k8s.io/json"
)

// Sums of the small case, the fast and the slow way of parsing, and of what a server keeps as it was written.
var quantities = []string{"0", "1", "100m", "250m", "1500m", "2", "64Mi", "128Mi", "1Gi", "1Ti", "1000Ti", "7Pi", "1Ei", "16Ei", "-1Ei", "1e3", "1E6", "1e30",
	"1k", "10M", "1G", "5T", "123456789012345678", "1234567890123456789", "123456789012345678901234567890", "-5", "-250m", "0.5", "1.5Gi",
	"0.0005", "1n", "0.1n", "1000", "1000m", "2000Mi", "1024Ki", "8Ki", "9Ki", "100u", "1.", "+3", "007", "0.1Ki", "0.0001Ki", "12345678901234567.5", "1e-3"}

var texts = []string{"", "a", "web", "ghcr.io/stefanprodan/podinfo:6.0.0", "--level=info", "zwei Wörter", "日本", "\U0001F600", "\uFF57", "<a & b>", "line\nline", "\\ \"", "%d"}

type generator struct {
	*rand.Rand
	// How often a field is there, of 100; at 100 nothing is empty or null.
	share int
}

func (g generator) length(below int) int {
	if g.share == 100 {
		return 1
	}
	return g.IntN(below)
}

func (g generator) text() string { return texts[g.IntN(len(texts))] }

// JSON of a value of a type, as a server may have it: fields are missing, empty lists and maps and nulls among them.
func (g generator) value(of reflect.Type, depth int) any {
	switch of {
	case reflect.TypeFor[resource.Quantity]():
		if g.IntN(12) == 0 {
			return g.IntN(5000)
		}
		return quantities[g.IntN(len(quantities))]
	case reflect.TypeFor[metav1.Time]():
		return time.Unix(g.Int64N(2e9), 0).UTC().Format(time.RFC3339)
	case reflect.TypeFor[intstr.IntOrString]():
		return []any{g.text(), g.IntN(65536)}[g.IntN(2)]
	case reflect.TypeFor[metav1.FieldsV1]():
		return map[string]any{"f:spec": map[string]any{}}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return g.value(of.Elem(), depth)
	case reflect.Bool:
		return g.IntN(2) == 0
	case reflect.Int32:
		return g.Int32() - 1<<30
	case reflect.Int64:
		return g.Int64N(1<<53) - 1<<40
	case reflect.String:
		return g.text()
	case reflect.Slice:
		list := []any{}
		for range g.length(3) {
			list = append(list, g.value(of.Elem(), depth+1))
		}
		return list
	case reflect.Map:
		object := map[string]any{}
		for range g.length(4) {
			object[g.text()] = g.value(of.Elem(), depth+1)
		}
		return object
	case reflect.Struct:
		object := map[string]any{}
		g.fill(object, of, depth)
		return object
	}
	panic(of.String())
}

func (g generator) fill(object map[string]any, of reflect.Type, depth int) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			g.fill(object, field.Type, depth)
		} else if g.IntN(100) < g.share || (depth == 0 && g.IntN(2) == 0) {
			object[name] = g.value(field.Type, depth+1)
			if g.share < 100 && g.IntN(25) == 0 {
				object[name] = nil
			}
		}
	}
}

type vector struct {
	Type string          `json:"type"`
	Hash string          `json:"hash"`
	JSON json.RawMessage `json:"json"`
}

// The hash is that of what the decoder of client-go makes of the JSON: names in their exact case, and unknown ones ignored.
func vectorOf(of reflect.Type, text string) string {
	into := reflect.New(of)
	if err := utiljson.UnmarshalCaseSensitivePreserveInts([]byte(text), into.Interface()); err != nil {
		panic(err.Error() + " in " + text)
	}
	return line(vector{of.String(), hashOf(into.Elem().Interface()), json.RawMessage(text)})
}

func vectorLines() []string {
	g := generator{rand.New(rand.NewPCG(29, 144)), 30}
	lines := []string{}
	for i := range 320 {
		lines = append(lines, vectorOf(roots[i/300], line(g.value(roots[i/300], 0))))
	}
	g.share = 100
	for _, root := range roots {
		lines = append(lines, vectorOf(root, line(g.value(root, 0))))
	}
	for _, quantity := range quantities {
		template := map[string]any{"spec": map[string]any{"overhead": map[string]string{"cpu": quantity}}}
		lines = append(lines, vectorOf(roots[0], line(template)))
	}
	return append(lines, checksumLines()...)
}

type trackedStatus = struct {
	TrackedConfigs  *map[string]string
	LastAppliedSpec string
}

func checksumLines() []string {
	lines := []string{}
	for _, text := range []string{
		`{}`,
		`{"lastAppliedSpec":"7474ccd9cf"}`,
		`{"lastAppliedSpec":"7474ccd9cf","trackedConfigs":{}}`,
		`{"lastAppliedSpec":"7474ccd9cf","trackedConfigs":{"secret/b":"0123456789abcdef","configmap/a":"fedcba9876543210"}}`,
	} {
		var status struct {
			TrackedConfigs  *map[string]string `json:"trackedConfigs"`
			LastAppliedSpec string             `json:"lastAppliedSpec"`
		}
		if err := json.Unmarshal([]byte(text), &status); err != nil {
			panic(err)
		}
		hash := hashOf(trackedStatus{status.TrackedConfigs, status.LastAppliedSpec})
		lines = append(lines, line(vector{"status", hash, json.RawMessage(text)}))
	}
	return lines
}
