package values

import (
	"encoding/json"
	"testing"
)

// Number 9007199254740993 is the first whole one that a float64 cannot hold.
func TestWholeNumbersKeepTheirDigitsWhereverTheyComeFrom(t *testing.T) {
	from := []Text{{Text: "yaml: 9007199254740993"}, {Text: "9007199254740993", TargetPath: "path"}}
	config, err := Compose(from, Inline(json.RawMessage(`{"inline":9007199254740993}`)))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"yaml", "path", "inline"} {
		if config[key] != int64(1<<53+1) {
			t.Errorf("%s is %T %v", key, config[key], config[key])
		}
	}
}

func TestOnlyAPathMakesASmallWholeNumberAnInteger(t *testing.T) {
	from := []Text{{Text: "yaml: 1000000"}, {Text: "1000000", TargetPath: "path"}}
	config, err := Compose(from, Inline(json.RawMessage(`{"inline":1000000}`)))
	if err != nil {
		t.Fatal(err)
	}
	if config["yaml"] != 1e6 || config["inline"] != 1e6 || config["path"] != int64(1e6) {
		t.Errorf("%#v", config)
	}
}

func TestAReferenceThatCannotBeReadSaysWhichOne(t *testing.T) {
	_, err := Compose([]Text{{Text: "a: b"}, {Text: "- c"}}, nil)
	reference, isIt := err.(*ReferenceError)
	want := "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type common.Values"
	if !isIt || reference.Reference != 1 || err.Error() != want {
		t.Errorf("%v", err)
	}
}
