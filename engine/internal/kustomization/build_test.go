package kustomization

import (
	"strings"
	"testing"

	"sluice/engine/internal/artifact"
)

const root = "/artifact-of-the-test"

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - image: nginx:1
        name: web
`

func build(files map[string]string, folder string, spec Spec) (Outcome, string) {
	content := map[string][]byte{}
	for name, text := range files {
		content[name] = []byte(text)
	}
	outcome, result := Build(artifact.NewTree(root, []string{folder}, content), root, folder, spec)
	return outcome, string(result)
}

func mustBuild(t *testing.T, files map[string]string, folder string, spec Spec) string {
	t.Helper()
	outcome, result := build(files, folder, spec)
	if outcome != Built {
		t.Fatalf("outcome %d: %s", outcome, result)
	}
	return result
}

func refused(t *testing.T, files map[string]string, folder string, spec Spec, want string) {
	t.Helper()
	outcome, result := build(files, folder, spec)
	if outcome != Refused || result != want {
		t.Errorf("outcome %d\n got %s\nwant %s", outcome, result, want)
	}
}

func text(value string) *string { return &value }

func TestAFolderWithoutAFileListsWhatItHolds(t *testing.T) {
	named := func(name string) string { return strings.Replace(configMap, "cm", name, 1) }
	result := mustBuild(t, map[string]string{
		"app/b.yaml": named("b"), "app/a.yml": named("a"), "app/.hidden.yaml": named("hidden"), "app/c.json": "{", "app/d.txt": "x",
		"app/sub/e.yaml": named("e"), "app/base/kustomization.yaml": "resources: [f.yaml]", "app/base/f.yaml": named("f"),
		"app/base/not-listed.yaml": named("not-listed"), "app/.git/g.yaml": named("g"), "beside.yaml": named("beside"),
		"app/empty.yaml": "", "app/comment.yaml": "# nothing\n",
	}, "app", Spec{})
	var names []string
	for _, line := range strings.Split(result, "\n") {
		if name, found := strings.CutPrefix(line, "  name: "); found {
			names = append(names, name)
		}
	}
	if got := strings.Join(names, " "); got != "g hidden a b f e" {
		t.Errorf("in this order: %s", got)
	}
}

func TestAnEmptyFolderOrFileBuildsToNothing(t *testing.T) {
	for _, files := range []map[string]string{{}, {"app/x.txt": ""}, {"app/kustomization.yaml": ""}, {"app/Kustomization": "{}"}} {
		if result := mustBuild(t, files, "app", Spec{}); result != "" {
			t.Errorf("%v: %q", files, result)
		}
	}
}

func TestTheFirstOfTheNamesIsTheFile(t *testing.T) {
	files := map[string]string{"a.yaml": configMap, "kustomization.yml": "namePrefix: yml-\nresources: [a.yaml]"}
	if result := mustBuild(t, files, "", Spec{}); !strings.Contains(result, "name: yml-cm") {
		t.Error(result)
	}
	files["kustomization.yaml"] = "namePrefix: yaml-\nresources: [a.yaml]"
	outcome, result := build(files, "", Spec{})
	if outcome != Refused || !strings.HasPrefix(result, "kustomize build failed: Found multiple kustomization files under: .") {
		t.Errorf("%d %s", outcome, result)
	}
}

func TestFieldsThatKustomizeDoesNotKnowAreDropped(t *testing.T) {
	files := map[string]string{
		"a.yaml":             configMap,
		"kustomization.yaml": "nonsense: 1\nresources: [a.yaml]\nimages: [{name: x, nonsense: [1]}]\nnamePrefix: 5\n",
	}
	if result := mustBuild(t, files, "", Spec{}); !strings.Contains(result, "name: 5cm") {
		t.Error(result)
	}
	files["base/kustomization.yaml"] = files["kustomization.yaml"]
	files["base/a.yaml"] = configMap
	files["kustomization.yaml"] = "resources: [base]"
	outcome, result := build(files, "", Spec{})
	if outcome != Refused || !strings.Contains(result, `unknown field "nonsense"`) {
		t.Errorf("in a base, as Flux: %d %s", outcome, result)
	}
}

func TestAFileThatIsNoYaml(t *testing.T) {
	refused(t, map[string]string{"app/kustomization.yaml": ": - ["}, "app", Spec{},
		"error converting YAML to JSON: yaml: did not find expected key")
	refused(t, map[string]string{"app/a.yaml": "a: b"}, "app", Spec{},
		"failed to decode Kubernetes YAML from app/a.yaml: missing Resource metadata")
	refused(t, map[string]string{"app/a.yaml": "a: {"}, "app", Spec{},
		"failed to decode Kubernetes YAML from app/a.yaml: MalformedYAMLError: yaml: line 1: did not find expected node content")
}

func TestPathsThatLeadOutAreRefused(t *testing.T) {
	outside := func(entry, read, why string) {
		t.Helper()
		files := map[string]string{"app/kustomization.yaml": "resources: ['" + entry + "']", "a.yaml": configMap}
		refused(t, files, "app", Spec{}, "kustomize build failed: accumulating resources: accumulation err='accumulating resources from '"+
			entry+"': fs-security-constraint read "+read+": path '"+read+"' is not in or below '.'': "+why)
	}
	noFolder := "must build at directory: not a valid directory: "
	outside("../../a.yaml", "/a.yaml", noFolder+"evalsymlink failure on '/a.yaml' : lstat /a.yaml: no such file or directory")
	outside("../..", "/", noFolder+"fs-security-constraint abs /: path '/' is not in or below '.'")
	outside("/etc/passwd", "/etc/passwd", "new root '/etc/passwd' cannot be absolute")
	outside("../../../../a.yaml", "/a.yaml", noFolder+"evalsymlink failure on '/a.yaml' : lstat /a.yaml: no such file or directory")
}

func TestWhatIsRemoteIsRefusedBySayingSo(t *testing.T) {
	for _, file := range []string{
		"resources: ['https://example.test/x.yaml']", "resources: ['https://example.test/x.git']", "resources: [github.com/org/repo]",
		"resources: ['git@example.test:org/repo']", "resources: ['ssh://git@example.test/org/repo']", "components: ['github.com:org/repo']",
		"resources: [a.yaml]\nconfigMapGenerator: [{name: x, files: ['http://169.254.169.254/latest']}]",
		"resources: [a.yaml]\nopenapi: {path: 'http://127.0.0.1/schema'}", "resources: ['git::file:///etc']",
		"resources: [a.yaml]\ntransformers: ['https://example.test/t.yaml']", "resources: [a.yaml]\npatches: [{path: 'http://x.test/p'}]",
	} {
		outcome, result := build(map[string]string{"kustomization.yaml": file, "a.yaml": configMap}, "", Spec{})
		if outcome != Refused || !strings.HasPrefix(result, "kustomize build failed: ") ||
			strings.Count(result, "remote bases are not supported: put a copy into the artifact") != 1 {
			t.Errorf("%s: %d %s", file, outcome, result)
		}
	}
	refused(t, map[string]string{"kustomization.yaml": "resources: ['https://user:secret@example.test/x.yaml']"}, "", Spec{},
		"kustomize build failed: 'https://user:xxxxx@example.test/x.yaml': remote bases are not supported: put a copy into the artifact")
}

func TestProgramsAndHelmAreRefused(t *testing.T) {
	refused(t, map[string]string{"kustomization.yaml": "helmCharts: [{name: a, repo: 'https://x.test'}]"}, "", Spec{},
		"kustomize build failed: trouble configuring builtin HelmChartInflationGenerator with config: `\nname: a\nrepo: https://x.test\n`: must specify --enable-helm")
	for _, function := range []string{"exec: {path: /bin/sh}", "container: {image: x}", "starlark: {path: x}"} {
		file := "resources: [a.yaml]\ntransformers: [t.yaml]\n"
		plugin := "apiVersion: x.test/v1\nkind: Foo\nmetadata:\n  name: t\n  annotations:\n    config.kubernetes.io/function: |\n      " + function + "\n"
		outcome, result := build(map[string]string{"kustomization.yaml": file, "a.yaml": configMap, "t.yaml": plugin}, "", Spec{})
		if outcome != Refused || !strings.Contains(result, "external plugins disabled; unable to load external plugin 'Foo'") {
			t.Errorf("%s: %d %s", function, outcome, result)
		}
	}
}

func TestAFailureHasTheSameMessageEachTime(t *testing.T) {
	for _, generator := range []string{"configMapGenerator", "secretGenerator"} {
		file := generator + ": [{name: g, behavior: merge, literals: [a=b]}]"
		first, again := "", ""
		for _, message := range []*string{&first, &again} {
			_, *message = build(map[string]string{"kustomization.yaml": file}, "", Spec{})
		}
		if first != again || !strings.Contains(first, "merging from generator &{}: id ") {
			t.Errorf("%s\n%s", first, again)
		}
	}
}

func TestAPanicIsRecovered(t *testing.T) {
	// Previous names that do not go with previous kinds are what kustomize says should never happen.
	file := configMap + "  annotations: {internal.config.kubernetes.io/previousNames: 'a,b'}\n"
	files := map[string]string{"kustomization.yaml": "resources: [a.yaml]\nnamespace: x", "a.yaml": file}
	outcome, result := build(files, "", Spec{})
	if outcome != Panicked || !strings.HasPrefix(result, "kustomize build failed: recovered from kustomize build panic: number of previous names") {
		t.Errorf("%d %s", outcome, result)
	}
	mustBuild(t, map[string]string{"a.yaml": configMap}, "", Spec{})
}

func TestASchemaOfOneArtifactIsNotThatOfTheNext(t *testing.T) {
	schema := `{"definitions": {"test.x.v1.Widget": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"parts":
	{"type": "array", "items": {"type": "object"}, "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}}}},
	"x-kubernetes-group-version-kind": [{"group": "x.test", "kind": "Widget", "version": "v1"}]}}}`
	widget := func(part string) string {
		return "apiVersion: x.test/v1\nkind: Widget\nmetadata: {name: w}\nspec: {parts: [{name: " + part + "}]}\n"
	}
	files := map[string]string{"w.yaml": widget("old"), "patch.yaml": widget("new"), "schema.json": schema}
	patch := "resources: [w.yaml]\npatches: [{path: patch.yaml}]\n"
	for range 2 {
		files["kustomization.yaml"] = patch + "openapi: {path: schema.json}\n"
		if result := mustBuild(t, files, "", Spec{}); !strings.Contains(result, "old") {
			t.Errorf("not merged by the schema: %s", result)
		}
		files["kustomization.yaml"] = patch
		if result := mustBuild(t, files, "", Spec{}); strings.Contains(result, "old") {
			t.Errorf("merged by the schema of another artifact: %s", result)
		}
	}
}

func TestASchemaOfAnArtifactAddsToThatOfKubernetes(t *testing.T) {
	schema := `{"definitions": {"test.x.v1.Widget": {"type": "object",
	"x-kubernetes-group-version-kind": [{"group": "x.test", "kind": "Widget", "version": "v1"}]}}}`
	patch := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n" +
		"spec: {template: {spec: {containers: [{name: side, image: side}]}}}\n"
	files := map[string]string{"base/deployment.yaml": deployment, "patch.yaml": patch, "base/schema.json": schema,
		"base/kustomization.yaml": "resources: [deployment.yaml]\nopenapi: {path: schema.json}\n",
		"kustomization.yaml":      "resources: [base]\npatches: [{path: patch.yaml}]\n"}
	// The first build resets what has been read, so that the second one begins as a new process does.
	for range 2 {
		if result := mustBuild(t, files, "", Spec{}); !strings.Contains(result, "image: nginx:1") {
			t.Errorf("not merged by Kubernetes' schema: %s", result)
		}
	}
}

func TestAJsonPatchKeepsTheDigitsOfIntegersOf64Bits(t *testing.T) {
	integers := []string{
		"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "18446744073709551614", "18446744073709551615", "0", "1000000",
	}
	object := configMap + "spec:\n  list:\n"
	patch := `[{"op": "add", "path": "/spec/added", "value": [`
	want := "spec:\n  added:\n"
	for i, integer := range integers {
		object += "  - id: " + integer + "\n"
		if i > 0 {
			patch += ","
		}
		patch += integer
		want += "  - " + integer + "\n"
	}
	want += "  list:\n"
	for _, integer := range integers {
		want += "  - id: " + integer + "\n"
	}
	// Two patches in a row: the second reads what the first has written.
	patches := []Patch{
		{Patch: patch + "]}]", Target: &Selector{Kind: "ConfigMap"}},
		{Patch: "- {op: test, path: /spec/added/2, value: 9007199254740993}", Target: &Selector{Kind: "ConfigMap"}},
	}
	result := mustBuild(t, map[string]string{"app/a.yaml": object}, "app", Spec{Patches: patches})
	if _, spec, _ := strings.Cut(result, "  name: cm\n"); spec != want {
		t.Errorf("got\n%s\nwant\n%s", spec, want)
	}
}

func TestAJsonPatchMakesDoublesOfAllOtherNumbers(t *testing.T) {
	for _, number := range []struct{ given, want string }{
		{"18446744073709551616", "1.8446744073709552e+19"},
		{"123456789012345678901234567890", "1.2345678901234568e+29"},
		{"1.0", "1"}, {"1e18", "1000000000000000000"}, {"0.30000000000000004", "0.30000000000000004"}, {"1234567.5", "1.2345675e+06"},
	} {
		// The long integer lets every number of the object be read again.
		object := configMap + "spec: {long: 9007199254740993, id: " + number.given + "}\n"
		patch := "[{\"op\": \"add\", \"path\": \"/spec/p\", \"value\": " + number.given + "}]"
		spec := Spec{Patches: []Patch{{Patch: patch, Target: &Selector{Kind: "ConfigMap"}}}}
		result := mustBuild(t, map[string]string{"app/a.yaml": object}, "app", spec)
		want := "spec:\n  id: " + number.want + "\n  long: 9007199254740993\n  p: " + number.want + "\n"
		if _, got, _ := strings.Cut(result, "  name: cm\n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", number.given, got, want)
		}
	}
}
