// Package source writes the message of a commit by a template, with the functions that Flux gives it. It is named as Flux's, since Go
// prints the names of types in what it says of a wrong template.
package source

import (
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"sluice/engine/helm/internal/message/update"
)

// TemplateData is what the template sees.
type TemplateData struct {
	AutomationObject types.NamespacedName
	Changed          update.Result
	Values           map[string]string
}

// Request is what the host asks for.
type Request struct {
	Template   string            `json:"template"`
	MaxBytes   int               `json:"maxBytes"`
	Values     map[string]string `json:"values"`
	Automation struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"automation"`
	Files []File `json:"files"`
}

// File is a file that is changed.
type File struct {
	Path    string `json:"path"`
	Objects []struct {
		Object struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Namespace  string `json:"namespace"`
			Name       string `json:"name"`
		} `json:"object"`
		Changes []update.Change `json:"changes"`
	} `json:"objects"`
}

// TemplateError says why a template gives no message, in Flux's words.
type TemplateError struct{ error }

// RemovedFieldError says that a template reads a field that Flux has removed, in Flux's words.
type RemovedFieldError struct{ error }

// removed has a field that is gone, what Go says of it, and what Flux does.
var removed = []struct{ said, field, instead string }{
	{"can't evaluate field Updated in type source.TemplateData", ".Updated", "'.Changed'"},
	{
		"can't evaluate field ImageResult in type update.Result", ".Changed.ImageResult",
		"'.Changed.FileChanges' or '.Changed.Objects'",
	},
}

const page = "https://fluxcd.io/flux/components/image/imageupdateautomations/#message-template"

// Message answers the message of a commit.
func Message(ask Request) (string, error) {
	// The name and the functions are Flux's: the name stands in what Go says.
	parsed, err := template.New("commit message").Funcs(sprig.HermeticTxtFuncMap()).Parse(ask.Template)
	if err != nil {
		return "", TemplateError{fmt.Errorf("unable to create commit message template from spec: %w", err)}
	}
	out := &limited{room: ask.MaxBytes}
	err = parsed.Execute(out, data(ask))
	if err == nil {
		return out.text.String(), nil
	}
	for _, each := range removed {
		if strings.Contains(err.Error(), each.said) {
			return "", RemovedFieldError{fmt.Errorf("template uses removed '%s' field. Please use %s instead. See: %s", each.field, each.instead, page)}
		}
	}
	if errors.Is(err, errLong) {
		err = fmt.Errorf("the text is longer than %d bytes", ask.MaxBytes)
	}
	return "", TemplateError{fmt.Errorf("failed to run template from spec: %w", err)}
}

func data(ask Request) TemplateData {
	files := map[string]update.ObjectChanges{}
	for _, file := range ask.Files {
		objects := files[file.Path]
		if objects == nil {
			objects = update.ObjectChanges{}
			files[file.Path] = objects
		}
		for _, each := range file.Objects {
			id := update.ObjectIdentifier{ResourceIdentifier: yaml.ResourceIdentifier{
				TypeMeta: yaml.TypeMeta{APIVersion: each.Object.APIVersion, Kind: each.Object.Kind},
				NameMeta: yaml.NameMeta{Name: each.Object.Name, Namespace: each.Object.Namespace},
			}}
			objects[id] = append(objects[id], each.Changes...)
		}
	}
	return TemplateData{
		AutomationObject: types.NamespacedName{Namespace: ask.Automation.Namespace, Name: ask.Automation.Name},
		Changed:          update.Result{FileChanges: files},
		Values:           ask.Values,
	}
}

var errLong = errors.New("too long")

// limited takes so many bytes.
type limited struct {
	text strings.Builder
	room int
}

func (l *limited) Write(text []byte) (int, error) {
	if len(text) > l.room {
		return 0, errLong
	}
	l.room -= len(text)
	return l.text.Write(text)
}
