package kustomization

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestGeneratedTrees builds trees of bases, overlays and components in which much is referred to, renamed, patched and in
// conflict. test.sh runs it with kustomize as upstream has it and with the patches, and compares what both write.
func TestGeneratedTrees(t *testing.T) {
	const trees = 600
	var results strings.Builder
	count := map[Outcome]int{}
	for seed := range uint64(trees) {
		files, spec := generatedTree(rand.New(rand.NewPCG(seed, 0)))
		outcome, result := build(files, "top", spec)
		count[outcome]++
		fmt.Fprintf(&results, "--- tree %d: outcome %d\n%s\n", seed, outcome, result)
	}
	t.Logf("built %d, refused %d, panicked %d", count[Built], count[Refused], count[Panicked])
	if count[Built] < trees/3 || count[Refused] < trees/50 {
		t.Error("the trees show little")
	}
	if path := os.Getenv("ENGINE_GENERATED_RESULTS"); path != "" {
		if err := os.WriteFile(path, []byte(results.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type treeMaker struct{ *rand.Rand }

func (r treeMaker) oneIn(n int) bool            { return r.IntN(n) == 0 }
func (r treeMaker) of(texts ...string) string   { return texts[r.IntN(len(texts))] }
func (r treeMaker) optional(text string) string { return r.of("", text) }

// name is one that others have too, now and then one over whose comma kustomize stumbles.
func (r treeMaker) name() string {
	if r.oneIn(200) {
		return "a,b"
	}
	return r.of("a", "b", "c", "d", "e", "web", "web-a", "p-a", "p-web", "web-s", "gen", "x", "y", "z", "api", "db")
}

// number is one of which upstream's JSON patches lose no digit, or that is a double anyway, or a text that looks like one.
func (r treeMaker) number() string {
	return r.of("0", "-7", "1.0", "0.1000", "1e3", "1E5", "1000000", "1234567.5", "-2.5e-7", "0.30000000000000004", "9007199254740991",
		"9007199254740992", "-9007199254740994", "1000000000000000000", "18446744073709551616", "123456789012345678901234567890",
		`"9007199254740993"`)
}

func generatedTree(random *rand.Rand) (map[string]string, Spec) {
	r := treeMaker{random}
	files := map[string]string{}
	bases := []string{"base/one", "base/two"}
	for _, folder := range bases {
		r.addFolder(files, folder, nil, "Kustomization")
	}
	r.addFolder(files, "part", nil, "Component")
	if r.oneIn(6) {
		r.addObjects(files, "top")
	} else {
		r.addFolder(files, "top", bases[:r.IntN(3)], "Kustomization")
	}
	return files, r.spec()
}

func (r treeMaker) spec() Spec {
	var spec Spec
	if r.oneIn(3) {
		spec.TargetNamespace = text(r.of("team", "default", "other"))
	}
	if r.oneIn(3) {
		spec.NamePrefix = text("s-")
	}
	if r.oneIn(4) {
		spec.Images = []Image{{Name: "nginx", NewTag: "9"}}
	}
	if r.oneIn(4) {
		patch := "- {op: add, path: /metadata/annotations, value: {x: y}}"
		spec.Patches = []Patch{{Patch: patch, Target: &Selector{Kind: r.of("ConfigMap", "Deploy.*", "")}}}
	}
	if r.oneIn(3) {
		patch := fmt.Sprintf(`[{"op": "add", "path": "/spec/list/0", "value": [%s, {"a": %s}]}]`, r.number(), r.number())
		spec.Patches = append(spec.Patches, Patch{Patch: patch, Target: &Selector{Kind: "Widget"}})
	}
	if r.oneIn(5) {
		spec.BuildMetadata = []string{r.of("originAnnotations", "transformerAnnotations")}
	}
	return spec
}

func (r treeMaker) addObjects(files map[string]string, folder string) (names []string) {
	for i := range 1 + r.IntN(3) {
		var objects []string
		for range 1 + r.IntN(2) {
			objects = append(objects, r.object())
		}
		name := fmt.Sprintf("f%d.yaml", i)
		files[folder+"/"+name] = strings.Join(objects, "---\n")
		names = append(names, name)
	}
	return names
}

func (r treeMaker) object() string {
	name, other := r.name(), r.name()
	head := func(version, kind string) string {
		metadata := fmt.Sprintf("metadata:\n  name: %q\n", name) + r.optional(fmt.Sprintf("  namespace: %s\n", r.of("team", "default", "x")))
		if r.oneIn(4) {
			metadata += fmt.Sprintf("  labels: {app: %q}\n", other)
		}
		if r.oneIn(5) {
			metadata += "  annotations: {note: '1'}\n"
		}
		return r.of("apiVersion: "+version+"\nkind: "+kind+"\n"+metadata, metadata+"kind: "+kind+"\napiVersion: "+version+"\n")
	}
	switch r.IntN(9) {
	case 0, 1:
		return head("v1", "ConfigMap") + fmt.Sprintf("data: {key: %q, other: '%d'}\n", other, r.IntN(9))
	case 2, 3:
		return head("apps/v1", "Deployment") + fmt.Sprintf(`spec:
  replicas: %d
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      serviceAccountName: %q
      containers:
      - {name: c, image: nginx:1, envFrom: [{configMapRef: {name: %q}}]}
      volumes: [{name: v, secret: {secretName: %q}}, {name: g, configMap: {name: gen}}]
`, r.IntN(5), other, r.name(), r.name())
	case 4:
		return head("v1", "ServiceAccount")
	case 5:
		return head("rbac.authorization.k8s.io/v1", r.of("RoleBinding", "ClusterRoleBinding")) +
			fmt.Sprintf("roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %q}\n", r.of("Role", "ClusterRole"), r.name()) +
			fmt.Sprintf("subjects: [{kind: ServiceAccount, name: %q%s}]\n", other, r.optional(", namespace: team"))
	case 6:
		return head("rbac.authorization.k8s.io/v1", r.of("Role", "ClusterRole"))
	case 7:
		return head("v1", r.of("Secret", "Namespace", "Service"))
	default:
		return head("example.test/v1", "Widget") + fmt.Sprintf("spec: {configMapRef: {name: %q}, list: [%s, {m: %s}]}\n", other, r.number(), r.number())
	}
}

func (r treeMaker) addFolder(files map[string]string, folder string, bases []string, kind string) {
	version := map[string]string{"Component": "v1alpha1", "Kustomization": "v1beta1"}[kind]
	file := "apiVersion: kustomize.config.k8s.io/" + version + "\nkind: " + kind + "\n"
	resources := r.addObjects(files, folder)
	if kind == "Component" {
		resources = nil
	}
	for _, base := range bases {
		resources = append(resources, "../"+base)
	}
	file += "resources: [" + strings.Join(resources, ", ") + "]\n"
	for _, line := range []string{
		"namePrefix: p-\n", "nameSuffix: -s\n", "namespace: " + r.of("team", "x") + "\n", "commonAnnotations: {who: me}\n",
		"labels: [{pairs: {env: prod}, includeSelectors: true}]\n", "images: [{name: nginx, newName: other}]\n",
		"configMapGenerator: [{name: gen, literals: [a=b]" + r.of("", ", behavior: merge", ", options: {disableNameSuffixHash: true}") + "}]\n",
		"secretGenerator: [{name: " + r.of("gen", "a") + ", literals: [a=b]}]\n", "sortOptions: {order: legacy}\n",
		"patches: [{patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + r.of("a", "web") + "}, spec: {replicas: 7}}'}]\n",
		"patches: [{target: {kind: ConfigMap}, patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: any}, $patch: delete}'}]\n",
		"replacements: [{source: {kind: ConfigMap, name: a, fieldPath: data.key}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.paused], options: {create: true}}]}]\n",
		"replicas: [{name: web, count: 2}]\n",
	} {
		// More of them would mostly be refused.
		if r.oneIn(8) && (!strings.HasPrefix(line, "patches") || !strings.Contains(file, "patches")) {
			file += line
		}
	}
	if folder == "top" && r.oneIn(4) {
		file += "components: [../part]\n"
	}
	files[folder+"/kustomization.yaml"] = file
}
