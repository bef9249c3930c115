package kustomization

import (
	"strings"
	"testing"
)

func TestTheSpecIsLaidOverTheFile(t *testing.T) {
	files := map[string]string{
		"app/d.yaml": deployment,
		"app/kustomization.yaml": `namespace: file
namePrefix: file-
resources: [d.yaml]
patches:
- patch: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, paused: true}}"
images: [{name: nginx, newTag: file}]
`,
	}
	spec := Spec{
		TargetNamespace: text("spec"), NamePrefix: text("spec-"), NameSuffix: text("-x"),
		Images: []Image{{Name: "nginx", NewName: "other"}},
		Patches: []Patch{{
			Patch:  `[{"op": "replace", "path": "/spec/replicas", "value": 2}]`,
			Target: &Selector{Kind: "Deploy.*", Name: "web"},
		}},
	}
	want := strings.NewReplacer("name: web\nspec:", "name: spec-web-x\n  namespace: spec\nspec:\n  paused: true\n  replicas: 2",
		"nginx:1", "other:file").Replace(deployment)
	if result := mustBuild(t, files, "app", spec); result != want {
		t.Error(result)
	}
}

func TestOnePatchMayDeleteSeveralObjects(t *testing.T) {
	gone := func(kind, version, name string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n$patch: delete\n"
	}
	spec := Spec{Patches: []Patch{{Patch: gone("Deployment", "apps/v1", "web") + "---\n" + gone("ConfigMap", "v1", "cm")}}}
	kept := strings.Replace(configMap, "cm", "kept", 1)
	if result := mustBuild(t, map[string]string{"a.yaml": configMap, "b.yaml": deployment, "c.yaml": kept}, "", spec); result != kept {
		t.Error(result)
	}
}

func TestImages(t *testing.T) {
	for _, c := range []struct {
		file string
		spec Image
		want string
	}{
		{"", Image{Name: "nginx", NewTag: "2"}, "nginx:2"},
		{"", Image{Name: "nginx", NewTag: "2", Digest: "sha256:a"}, "nginx:2@sha256:a"},
		{"{name: nginx, newTag: file}", Image{Name: "nginx", NewName: "other"}, "other:file"},
		{"{name: nginx, digest: 'sha256:file'}", Image{Name: "nginx", NewTag: "2"}, "nginx:2"},
		{"{name: nginx, newTag: file}", Image{Name: "nginx", Digest: "sha256:a"}, "nginx@sha256:a"},
		{"{name: nginx, newTag: file}", Image{Name: "nginx"}, "nginx:file"},
		{"{name: redis, newTag: file}", Image{Name: "nginx", NewTag: "2"}, "nginx:2"},
	} {
		files := map[string]string{"d.yaml": deployment, "kustomization.yaml": "resources: [d.yaml]\nimages: [" + c.file + "]"}
		result := mustBuild(t, files, "", Spec{Images: []Image{c.spec}})
		if !strings.Contains(result, "image: "+c.want+"\n") {
			t.Errorf("%s and %v: %s", c.file, c.spec, result)
		}
	}
}

func TestComponents(t *testing.T) {
	component := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -by-a\n"
	files := map[string]string{
		"app/a.yaml": configMap, "app/kustomization.yaml": "resources: [a.yaml]", "parts/a/kustomization.yaml": component,
	}
	spec := Spec{Components: []string{"../parts/a", "../parts/missing"}}
	refused(t, files, "app", spec, `kustomize build failed: accumulating components: loader.New "must build at directory: `+
		`not a valid directory: evalsymlink failure on 'parts/missing' : lstat parts/missing: no such file or directory"`)
	spec.IgnoreMissingComponents = true
	if result := mustBuild(t, files, "app", spec); !strings.Contains(result, "name: cm-by-a") {
		t.Error(result)
	}
	// What is out of the artifact is not there.
	spec.Components = []string{"../../../etc"}
	if result := mustBuild(t, files, "app", spec); result != configMap {
		t.Error(result)
	}
	for _, component := range []string{
		"https://x.test/a", "HTTP://x.test/a", "git::https://x", "gh:org/a", "ssh://x", "git@x:y", "github.com:o/r", "GitHub.com/o/r",
		"/etc", "file:///etc", "FILE:///etc",
	} {
		refused(t, files, "app", Spec{Components: []string{component}, IgnoreMissingComponents: true},
			"component path '"+component+"' must be local and relative")
	}
}

func TestBuildMetadata(t *testing.T) {
	origin := "config.kubernetes.io/origin: |"
	files := map[string]string{"a.yaml": configMap, "kustomization.yaml": "resources: [a.yaml]"}
	if result := mustBuild(t, files, "", Spec{}); strings.Contains(result, origin) {
		t.Error(result)
	}
	if result := mustBuild(t, files, "", Spec{BuildMetadata: []string{"originAnnotations"}}); !strings.Contains(result, origin) {
		t.Error(result)
	}
	// As in Flux, a file without resources has it.
	files["kustomization.yaml"] = "configMapGenerator: [{name: g, literals: [a=b]}]"
	if result := mustBuild(t, files, "", Spec{}); !strings.Contains(result, origin) {
		t.Error(result)
	}
	spec := Spec{BuildMetadata: []string{"transformerAnnotations"}}
	if result := mustBuild(t, files, "", spec); strings.Contains(result, origin) {
		t.Error(result)
	}
}

func TestTheOrderIsThatOfTheFilesUnlessTheyAskForAnother(t *testing.T) {
	namespace := "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ns\n"
	files := map[string]string{"a.yaml": configMap, "b.yaml": namespace, "kustomization.yaml": "resources: [a.yaml, b.yaml]"}
	if result := mustBuild(t, files, "", Spec{}); result != configMap+"---\n"+namespace {
		t.Error(result)
	}
	files["kustomization.yaml"] += "\nsortOptions: {order: legacy}"
	if result := mustBuild(t, files, "", Spec{}); result != namespace+"---\n"+configMap {
		t.Error(result)
	}
}
