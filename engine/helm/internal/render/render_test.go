package render

import (
	"errors"
	"slices"
	"testing"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
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

func TestTheEnabledDependenciesThatAreNotInChartsAreNamed(t *testing.T) {
	of := func(name string, wanted ...*chart.Dependency) *chart.Chart {
		return &chart.Chart{Metadata: &chart.Metadata{Name: name, Version: "1.0.0", APIVersion: "v2", Dependencies: wanted}}
	}
	named := func(name, condition, alias string) *chart.Dependency {
		return &chart.Dependency{Name: name, Version: "1.0.0", Condition: condition, Alias: alias}
	}
	// A subchart may use what the chart above brings.
	subchart := of("db", named("common", "", ""))
	whole := of("app", named("redis", "", "cache"), named("db", "", "store"), named("off", "off.enabled", ""))
	whole.AddDependency(subchart)
	absentIn := absentDependencies(whole)
	if err := chartutil.ProcessDependencies(whole, map[string]any{"off": map[string]any{"enabled": false}}); err != nil {
		t.Fatal(err)
	}
	if got := absentIn(whole); !slices.Equal(got, []string{"redis"}) {
		t.Error(got)
	}
}
