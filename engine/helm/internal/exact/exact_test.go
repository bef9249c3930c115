package exact

import (
	"fmt"
	"testing"
)

func TestAWholeNumberOf64BitsKeepsItsDigitsAndEveryOtherIsAFloat(t *testing.T) {
	for text, want := range map[string]any{
		"1000000":              float64(1_000_000),
		"9007199254740992":     float64(1 << 53),
		"9007199254740993":     int64(1<<53 + 1),
		"-9007199254740993":    int64(-1<<53 - 1),
		"9223372036854775807":  int64(1<<63 - 1),
		"-9223372036854775808": float64(-1 << 63),
		"-9223372036854775807": int64(-1<<63 + 1),
		"18446744073709551615": float64(1 << 64),
		"9007199254740993.0":   float64(1 << 53),
		"1e17":                 1e17,
		"0.1":                  0.1,
	} {
		var read map[string]any
		if err := Unmarshal(fmt.Appendf(nil, `{"a":[{"n":%s}]}`, text), &read); err != nil {
			t.Fatal(err)
		}
		if err := Numbers(read); err != nil {
			t.Fatal(err)
		}
		if got := read["a"].([]any)[0].(map[string]any)["n"]; got != want {
			t.Errorf("%s is %T %v, not %T %v", text, got, got, want, want)
		}
	}
}

func TestANumberOutOfRangeIsRefused(t *testing.T) {
	var read map[string]any
	if err := Unmarshal([]byte(`{"n":1e400}`), &read); err != nil {
		t.Fatal(err)
	}
	if Numbers(read) == nil {
		t.Errorf("1e400 is %v", read["n"])
	}
}

func TestTextAfterTheValueIsRefused(t *testing.T) {
	var read map[string]any
	if Unmarshal([]byte(`{} {}`), &read) == nil {
		t.Error("a second value is accepted")
	}
}
