// Package update has what a template of a commit message knows of the changes. It is named as Flux's, since Go prints the names of types
// in what it says of a wrong template.
package update

import (
	"cmp"
	"maps"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Change is one value that a marker has changed.
type Change struct {
	OldValue string
	NewValue string
	Setter   string
}

// ObjectIdentifier tells objects of a file apart. All of it is empty where the document is no object of Kubernetes.
type ObjectIdentifier struct {
	yaml.ResourceIdentifier
}

// ObjectChanges has the changes of each object.
type ObjectChanges map[ObjectIdentifier][]Change

// Result has the changes by file and object.
type Result struct {
	FileChanges map[string]ObjectChanges
}

// Changes returns each different change once: by file, then by object, in the order in which a template ranges over them. In Flux their
// order changes from run to run.
func (r Result) Changes() []Change {
	var all []Change
	seen := map[Change]bool{}
	r.each(func(_ ObjectIdentifier, changes []Change) {
		for _, change := range changes {
			if !seen[change] {
				seen[change] = true
				all = append(all, change)
			}
		}
	})
	return all
}

// Objects returns the changes of each object, whatever file it is in.
func (r Result) Objects() ObjectChanges {
	all := ObjectChanges{}
	r.each(func(object ObjectIdentifier, changes []Change) { all[object] = append(all[object], changes...) })
	return all
}

func (r Result) each(visit func(ObjectIdentifier, []Change)) {
	for _, file := range slices.Sorted(maps.Keys(r.FileChanges)) {
		objects := r.FileChanges[file]
		for _, object := range slices.SortedFunc(maps.Keys(objects), compared) {
			visit(object, objects[object])
		}
	}
}

// compared is the order of text/template, which compares the fields in turn.
func compared(a, b ObjectIdentifier) int {
	return cmp.Or(
		cmp.Compare(a.APIVersion, b.APIVersion),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Namespace, b.Namespace),
	)
}
