package render

import (
	"errors"
	"testing"
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
