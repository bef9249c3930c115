package source

import (
	"encoding/json"
	"strings"
	"testing"
)

const asked = `{
	"automation": {"namespace": "apps", "name": "images"},
	"values": {"cluster": "live"},
	"files": [
		{"path": "b.yaml", "objects": [
			{"object": {"apiVersion": "v1", "kind": "Pod", "namespace": "apps", "name": "web"}, "changes": [
				{"oldValue": "web:1", "newValue": "web:2", "setter": "apps:web"},
				{"oldValue": "1", "newValue": "2", "setter": "apps:web:tag"}
			]},
			{"object": {"apiVersion": "v1", "kind": "Pod", "namespace": "apps", "name": "api"}, "changes": [
				{"oldValue": "api:1", "newValue": "api:2", "setter": "apps:api"}
			]}
		]},
		{"path": "a.yaml", "objects": [
			{"object": {"apiVersion": "v1", "kind": "Pod", "namespace": "apps", "name": "web"}, "changes": [
				{"oldValue": "web:1", "newValue": "web:2", "setter": "apps:web"}
			]},
			{"object": {"apiVersion": "", "kind": "", "namespace": "", "name": ""}, "changes": [
				{"oldValue": "0", "newValue": "2", "setter": "apps:web:tag"}
			]}
		]}
	]
}`

func message(t *testing.T, template string, maxBytes int) (string, error) {
	t.Helper()
	var ask Request
	if err := json.Unmarshal([]byte(asked), &ask); err != nil {
		t.Fatal(err)
	}
	ask.Template, ask.MaxBytes = template, maxBytes
	return Message(ask)
}

func TestATemplateSeesTheAutomationTheValuesAndTheChanges(t *testing.T) {
	for template, want := range map[string]string{
		"plain }} text": "plain }} text",
		"{{ .AutomationObject }} {{ .AutomationObject.Name }} of {{ .AutomationObject.Namespace }}":    "apps/images images of apps",
		"{{ .Values.cluster }}{{ .Values.other }}{{ with .Values.other }}not here{{ end }}":            "live<no value>",
		"{{ range .Changed.Changes }}{{ .OldValue }}->{{ .NewValue }} by {{ .Setter }};{{ end }}":      "0->2 by apps:web:tag;web:1->web:2 by apps:web;api:1->api:2 by apps:api;1->2 by apps:web:tag;",
		"{{ range $file, $_ := .Changed.FileChanges }}{{ $file }} {{ end }}":                           "a.yaml b.yaml ",
		"{{ range $o, $c := .Changed.Objects }}[{{ $o.Kind }}/{{ $o.Name }} {{ len $c }}]{{ end }}":    "[/ 1][Pod/api 1][Pod/web 3]",
		"{{ range $o, $c := .Changed.Objects }}{{ $o.APIVersion }} {{ $o.Namespace }},{{ end }}":       " ,v1 apps,v1 apps,",
		`{{ range .Changed.Changes }}{{ splitList ":" .Setter | last }},{{ end }}`:                     "tag,web,api,tag,",
		"{{ range $f, $o := .Changed.FileChanges }}{{ range $i, $c := $o }}{{ $i }}{{ end }}{{ end }}": "{{{ } { }}}{{{v1 Pod} {web apps}}}{{{v1 Pod} {api apps}}}{{{v1 Pod} {web apps}}}",
		"{{- /* nothing */ -}}": "",
	} {
		if got, err := message(t, template, 1000); err != nil || got != want {
			t.Errorf("%s: %q, %v", template, got, err)
		}
	}
}

func TestWhatIsWrongWithATemplateIsSaidAsFluxDoes(t *testing.T) {
	for template, want := range map[string]string{
		"{{ .Values":                "unable to create commit message template from spec: template: commit message:1: unclosed action",
		"{{ now }}":                 `unable to create commit message template from spec: template: commit message:1: function "now" not defined`,
		`{{ env "HOME" }}`:          `unable to create commit message template from spec: template: commit message:1: function "env" not defined`,
		"{{ randAlpha 5 }}":         `unable to create commit message template from spec: template: commit message:1: function "randAlpha" not defined`,
		`{{ getHostByName "a.b" }}`: `unable to create commit message template from spec: template: commit message:1: function "getHostByName" not defined`,
		`{{ fail "no" }}`:           `failed to run template from spec: template: commit message:1:3: executing "commit message" at <fail "no">: error calling fail: no`,
		"{{ .Missing }}":            `failed to run template from spec: template: commit message:1:3: executing "commit message" at <.Missing>: can't evaluate field Missing in type source.TemplateData`,
		"{{ .Changed.Missing }}":    `failed to run template from spec: template: commit message:1:11: executing "commit message" at <.Changed.Missing>: can't evaluate field Missing in type update.Result`,
		"{{ .Updated.Images }}":     "template uses removed '.Updated' field. Please use '.Changed' instead. See: " + page,
		"{{ range .Changed.ImageResult.Objects }}{{ end }}": "template uses removed '.Changed.ImageResult' field. Please use '.Changed.FileChanges' or '.Changed.Objects' instead. See: " + page,
	} {
		if got, err := message(t, template, 1000); err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v", template, got, err)
		}
	}
}

func TestAMessageHasAsManyBytesAsItMayAndNotOneMore(t *testing.T) {
	template := `{{ repeat 5 "é" }}`
	if got, err := message(t, template, 10); err != nil || len(got) != 10 {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := message(t, template, 9); err == nil || !strings.HasSuffix(err.Error(), ": the text is longer than 9 bytes") {
		t.Errorf("%q, %v", got, err)
	}
}
