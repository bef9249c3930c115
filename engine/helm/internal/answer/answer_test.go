package answer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

const chartYAML = "apiVersion: v2\nname: app\nversion: 1.0.0\n"

// packed is a chart of these files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	tarred := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Name: "app/" + name, Mode: 0o644, Size: int64(len(files[name]))}
		if err := tarred.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := tarred.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tarred.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func nothing(_, _, _, _ string) (map[string]any, error) { return map[string]any{}, nil }

// ask answers a request with this header and these bodies.
func ask(t *testing.T, header string, bodies ...[]byte) (string, bool) {
	t.Helper()
	data := append(binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header...)
	out, isDone := To(append(data, bytes.Join(bodies, nil)...), nothing)
	return string(out), isDone
}

// done is the answer of a request that is not refused.
func done(t *testing.T, header string, bodies ...[]byte) string {
	t.Helper()
	out, isDone := ask(t, header, bodies...)
	if !isDone {
		t.Fatal(out)
	}
	return out
}

// upgrade has the fields of a render request besides values and op.
const upgrade = `"release":{"name":"app","namespace":"retail","revision":1},"action":"upgrade","apiVersions":["v1"],` +
	`"kubeVersion":"v1.33.1-eks-abc","postRender":{"strategy":"combined"}`

func recordOf(t *testing.T, framed string) []byte {
	t.Helper()
	_, record, isFramed := strings.Cut(framed, "\n")
	if !isFramed {
		t.Fatal(framed)
	}
	return []byte(record)
}

func TestARequestThatEndsEarlyIsRefused(t *testing.T) {
	for _, data := range [][]byte{nil, {1}, {9, 0, 0, 0, '{'}} {
		if out, isDone := To(data, nothing); isDone {
			t.Errorf("%q is answered by %s", data, out)
		}
	}
	if out, isDone := ask(t, `{"op":"definitions","formerBytes":9}`, []byte("x")); isDone {
		t.Error(out)
	}
}

func TestAnUnknownRequestIsRefused(t *testing.T) {
	if out, isDone := ask(t, `{"op":"paint"}`); isDone || !strings.Contains(out, "unknown request") {
		t.Error(out)
	}
}

func TestAMessageIsAnsweredAndARefusalSaysWhatIsWrongWithItsTemplate(t *testing.T) {
	if out := done(t, `{"op":"message","message":{"template":"{{ .AutomationObject }}","automation":{"namespace":"a","name":"b"},"maxBytes":9}}`); out != `"a/b"` {
		t.Error(out)
	}
	for template, part := range map[string]string{"{{": "template", "{{ .Other }}": "template", "{{ .Updated.Files }}": "removedField"} {
		header := `{"op":"message","message":{"maxBytes":9,"template":"` + template + `"}}`
		if out, isDone := ask(t, header); isDone || !strings.HasPrefix(out, `{"part":"`+part+`"`) {
			t.Errorf("%s: %s", template, out)
		}
	}
}

func TestPrepareNamesTheChartWithItsMarkAndDigestsTheValues(t *testing.T) {
	out := done(t, `{"op":"prepare","versionSuffix":"+4f4f","values":{"from":[],"inline":{"replicaCount":2}}}`,
		packed(t, map[string]string{"Chart.yaml": chartYAML}))
	want := `{"chart":{"name":"app","version":"1.0.0+4f4f"},"configDigest":` +
		`"sha256:e15c415d62760896bd8bec192a44c5716dc224db9e0fc609b9ac14718f8f9e56","values":{"replicaCount":2}}`
	if out != want {
		t.Error(out)
	}
}

const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %}\n"

func crd(name string) string { return strings.ReplaceAll(definition, "%", name) }

func TestDefinitionsAreThoseOfTheChartAndItsEnabledDependencies(t *testing.T) {
	files := map[string]string{
		"Chart.yaml": chartYAML + "dependencies:\n- {name: used, version: 1.0.0, condition: used.enabled}\n" +
			"- {name: unused, version: 1.0.0, condition: unused.enabled}\n",
		"crds/b.yaml":               crd("b1") + "---\n" + crd("b2"),
		"crds/a.yaml":               "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}}\n",
		"charts/used/Chart.yaml":    "apiVersion: v2\nname: used\nversion: 1.0.0\n",
		"charts/used/crds/c.yaml":   crd("used"),
		"charts/unused/Chart.yaml":  "apiVersion: v2\nname: unused\nversion: 1.0.0\n",
		"charts/unused/crds/c.yaml": crd("unused"),
		"templates/broken.yaml":     `{{ fail "it is not rendered" }}`,
	}
	out := done(t, `{"op":"definitions","values":{"inline":{"unused":{"enabled":false}}}}`, packed(t, files))
	var found []struct {
		Template string
		Manifest struct{ Metadata struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, each := range found {
		got = append(got, each.Template+" "+each.Manifest.Metadata.Name)
	}
	want := []string{"app/charts/used/crds/c.yaml used", "app/crds/a.yaml a", "app/crds/b.yaml b1", "app/crds/b.yaml b2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestADefinitionThatCannotBeReadFailsWhatReadsDefinitionsAndNoRendering(t *testing.T) {
	chart := packed(t, map[string]string{
		"Chart.yaml": chartYAML, "crds/a.yaml": crd("a"), "crds/b.yaml": "{{ .Values.a }}", "crds/c.yaml": crd("c"),
	})
	out, isDone := ask(t, `{"op":"definitions","values":{}}`, chart)
	want := "failed to apply CustomResourceDefinitions: failed to parse CustomResourceDefinitions from crds/b.yaml: "
	if isDone || !strings.Contains(out, want) {
		t.Error(out)
	}
	line, _, _ := strings.Cut(done(t, `{"op":"render",`+upgrade+`,"values":{}}`, chart), "\n")
	var seen struct{ CRDs []struct{ Template string } }
	if err := json.Unmarshal([]byte(line), &seen); err != nil {
		t.Fatal(err)
	}
	if len(seen.CRDs) != 1 || seen.CRDs[0].Template != "app/crds/a.yaml" {
		t.Errorf("%v", seen.CRDs)
	}
}

const template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n" +
	"  all: {{ list .Values.a .Values.b .Values.old .Values.new .Values.big | toJson | quote }}\n"

func TestAReleaseKeepsTheValuesOfTheFormerOneAndOfItsChart(t *testing.T) {
	before := packed(t, map[string]string{"Chart.yaml": chartYAML, "values.yaml": "old: 1\n", "templates/a.yaml": template})
	header := `{"op":"render",` + upgrade + `,"values":{"inline":{"a":1,"b":2,"big":9007199254740993}}}`
	former := recordOf(t, done(t, header, before))

	after := packed(t, map[string]string{"Chart.yaml": chartYAML, "values.yaml": "new: 1\n", "templates/a.yaml": template})
	size, _ := json.Marshal(len(former))
	header = `{"op":"render",` + upgrade + `,"values":{"inline":{"a":3}},"formerBytes":` + string(size) + `}`
	framed := done(t, header, after, former)
	var seen struct {
		Observed struct {
			ConfigDigest string
			Values       json.RawMessage
			Objects      []struct {
				Manifest struct{ Data struct{ All string } }
			}
		}
	}
	line, _, _ := strings.Cut(framed, "\n")
	if err := json.Unmarshal([]byte(line), &seen); err != nil {
		t.Fatal(err)
	}
	if got := string(seen.Observed.Values); got != `{"a":3,"b":2,"big":9007199254740993}` {
		t.Error(got)
	}
	// As with helm upgrade --reuse-values, what is new in the defaults of the chart is not there.
	if got := seen.Observed.Objects[0].Manifest.Data.All; got != `[3,2,1,null,9007199254740993]` {
		t.Error(got)
	}

	reused := done(t, `{"op":"reused","values":{"inline":{"a":3}}}`, recordOf(t, framed))
	if reused != `"`+seen.Observed.ConfigDigest+`"` {
		t.Errorf("the same values over this release are %s", reused)
	}
	if other := done(t, `{"op":"reused","values":{"inline":{"a":4}}}`, recordOf(t, framed)); other == reused {
		t.Error("another value has the same digest")
	}
}

func TestAFormerReleaseThatCannotBeReadIsAFaultOfTheRecord(t *testing.T) {
	for _, header := range []string{`{"op":"reused"}`, `{"op":"render","formerBytes":2}`, `{"op":"definitions","formerBytes":2}`} {
		out, isDone := ask(t, header, []byte("{}"))
		if isDone || !strings.HasPrefix(out, `{"part":"record"`) {
			t.Errorf("%s: %s", header, out)
		}
	}
}

func TestAVersionOfKubernetesWithASuffixIsInTheRangeOfItsNumbers(t *testing.T) {
	files := map[string]string{
		"Chart.yaml":       chartYAML + "kubeVersion: '>=1.33.0 <1.34.0'\n",
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {v: \"{{ .Capabilities.KubeVersion.Version }}\"}\n",
	}
	header := `{"op":"render",` + upgrade + `,"values":{}}`
	if out := done(t, header, packed(t, files)); !strings.Contains(out, `"data":{"v":"v1.33.1-eks-abc"}`) {
		t.Error(out)
	}
	files["Chart.yaml"] = chartYAML + "kubeVersion: '>=1.34.0'\n"
	out, isDone := ask(t, header, packed(t, files))
	if isDone || !strings.Contains(out, "chart requires kubeVersion: \\u003e=1.34.0 which is incompatible with Kubernetes v1.33.1-eks-abc") {
		t.Error(out)
	}
}
