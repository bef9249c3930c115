package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const stored = `{"name":"cart","info":{"status":"deployed"},"chart":{"metadata":{"name":"cart","version":"1.4.2"},` +
	`"values":{"port":9007199254740993,"share":0.5}},"config":{"n":9007199254740993,"list":[{"n":-9007199254740993}],"small":1000000},` +
	`"version":3,"namespace":"retail"}`

func TestAChangeOfARecordKeepsEveryDigitOfItsValues(t *testing.T) {
	rel, err := Read([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	status := "superseded"
	if err := Amend(rel, Change{Status: &status}); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(rel)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"config":{"list":[{"n":-9007199254740993}],"n":9007199254740993,"small":1000000}`,
		`"values":{"port":9007199254740993,"share":0.5}`,
		`"status":"superseded"`,
	} {
		if !strings.Contains(string(written), want) {
			t.Errorf("%s lacks %s", written, want)
		}
	}
}

func TestARecordThatWasWrittenHasTheSameDigestsWhenItIsRead(t *testing.T) {
	rel, err := Read([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	before, err := Observe(rel, "")
	if err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(rel)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(written)
	if err != nil {
		t.Fatal(err)
	}
	after, err := Observe(again, "")
	if err != nil {
		t.Fatal(err)
	}
	if before.Digest != after.Digest || before.ConfigDigest != after.ConfigDigest {
		t.Errorf("%s %s, then %s %s", before.Digest, before.ConfigDigest, after.Digest, after.ConfigDigest)
	}
}

func TestAListCountsAsItsItems(t *testing.T) {
	manifest := `---
# Source: app/crds/all.yaml
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: a}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleList
  items:
  - metadata: {name: b}
  - metadata: {name: c}
---
apiVersion: v1
kind: ConfigMapList
items: []
---
apiVersion: v1
kind: ConfigMap
metadata: {name: d}
`
	found, err := Objects(manifest)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, each := range found {
		name := each.Manifest["metadata"].(map[string]any)["name"]
		got = append(got, fmt.Sprint(each.Manifest["apiVersion"], " ", each.Manifest["kind"], " ", name, " ", each.Template))
	}
	want := []string{
		"v1 Secret a app/crds/all.yaml",
		"rbac.authorization.k8s.io/v1 Role b app/crds/all.yaml",
		"rbac.authorization.k8s.io/v1 Role c app/crds/all.yaml",
		"v1 ConfigMap d ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAListOfNoObjectsIsRefused(t *testing.T) {
	if found, err := Objects("apiVersion: v1\nkind: List\nitems: [1]\n"); err == nil {
		t.Errorf("%v", found)
	}
}
