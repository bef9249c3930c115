package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var roots = []reflect.Type{reflect.TypeFor[corev1.PodTemplateSpec](), reflect.TypeFor[corev1.ServiceSpec]()}

// These read JSON in their own way, so they are written by hand in TypeScript.
var special = map[reflect.Type]bool{
	reflect.TypeFor[resource.Quantity]():  true,
	reflect.TypeFor[metav1.Time]():        true,
	reflect.TypeFor[metav1.FieldsV1]():    true,
	reflect.TypeFor[intstr.IntOrString](): true,
}

type collected struct {
	named      map[string]reflect.Type
	structs    map[string][][]string
	underlying map[string]string
}

func (c *collected) add(of reflect.Type) {
	c.addUnderlying(of)
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		c.add(of.Elem())
		return
	case reflect.Map:
		if of.Key().Kind() != reflect.String {
			panic(fmt.Sprintf("%s has keys that are no strings", of))
		}
		c.add(of.Elem())
		return
	}
	if known, ok := c.named[of.String()]; ok && known != of {
		panic(fmt.Sprintf("two types are called %s", of))
	} else if ok {
		return
	}
	c.named[of.String()] = of
	switch {
	case special[of]:
	case of.Kind() == reflect.Struct:
		c.addStruct(of)
	}
}

// What a named type is that is no struct.
func (c *collected) addUnderlying(of reflect.Type) {
	switch {
	case of.PkgPath() == "" || of.Kind() == reflect.Struct:
	case of.Kind() == reflect.Map:
		c.underlying[of.String()] = reflect.MapOf(of.Key(), of.Elem()).String()
	case of.Kind() == reflect.Slice:
		c.underlying[of.String()] = reflect.SliceOf(of.Elem()).String()
	default:
		c.underlying[of.String()] = of.Kind().String()
	}
}

func (c *collected) addStruct(of reflect.Type) {
	fields := [][]string{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		isInline := field.Anonymous && name == "" && strings.Contains(options+",", "inline,")
		if !field.IsExported() || name == "-" || (name == "" && !isInline) {
			panic(fmt.Sprintf("%s.%s is neither inline nor has a name in JSON", of, field.Name))
		}
		fields = append(fields, []string{field.Name, name, field.Type.String()})
		c.add(field.Type)
	}
	c.structs[of.String()] = fields
}

// One line for each struct: fields as Go name, name in JSON (empty for inlined ones), type.
func typeLines() []string {
	c := collected{map[string]reflect.Type{}, map[string][][]string{}, map[string]string{}}
	for _, root := range roots {
		c.add(root)
	}
	lines := []string{"{", ` "underlying": ` + line(c.underlying) + ",", ` "structs": {`}
	names := []string{}
	for name := range c.structs {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		lines = append(lines, fmt.Sprintf("  %q: %s%s", name, line(c.structs[name]), end))
	}
	return append(lines, " }", "}")
}
