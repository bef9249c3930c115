package record

import (
	"encoding/json"
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
