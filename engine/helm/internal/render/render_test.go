package render

import (
	"errors"
	"slices"
	"testing"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

func TestASchemaThatIsElsewhereIsRefusedWithoutWordsOfTheNetwork(t *testing.T) {
	told := `failing loading "https://user:xxxxx@example.com/s.json": a schema of another file or server is not read: ` +
		`copy it into values.schema.json, or set disableSchemaValidation`
	for text, want := range map[string]string{
		"app:\nfailing loading \"https://user:secret@example.com/s.json\": dial tcp: write udp 127.0.0.1:8\nb:\n": "app:\n" + told + "\nb:\n",
		"app:\n- at '/a': got string, want number\n":                                                              "app:\n- at '/a': got string, want number\n",
	} {
		if got := withoutAttempts(errors.New(text)).Error(); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestTheDependenciesThatAreNotInChartsAreNamedWithTheirPath(t *testing.T) {
	of := func(name string, wanted ...string) *chart.Chart {
		made := &chart.Chart{Metadata: &chart.Metadata{Name: name}}
		for _, each := range wanted {
			made.Metadata.Dependencies = append(made.Metadata.Dependencies, &chart.Dependency{Name: each})
		}
		return made
	}
	whole, sub := of("app", "redis", "db"), of("db", "backup")
	whole.AddDependency(sub)
	if got := absentDependencies(whole, ""); !slices.Equal(got, []string{"redis", "db/backup"}) {
		t.Error(got)
	}
	sub.AddDependency(of("backup"))
	whole.AddDependency(of("redis"))
	if got := absentDependencies(whole, ""); len(got) > 0 {
		t.Error(got)
	}
}
