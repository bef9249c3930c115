package expression_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"sluice/engine/cel/internal/expression"
	"sluice/engine/cel/internal/flux"
)

var update = flag.Bool("update", false, "write what Flux says of each expression")

const (
	expressionsFile = "../../testdata/expressions.txt"
	valuesFile      = "../../testdata/values.json"
	answersFile     = "../../testdata/answers.json"
)

var variables = []string{"res", "req", "claims"}

// What becomes of an expression: a result, or a message.
type answer struct {
	Expression string          `json:"expression"`
	Output     string          `json:"output"`
	Value      json.RawMessage `json:"value,omitempty"`
	Fault      string          `json:"fault,omitempty"`
}

// Flux's own package is the judge: for each expression of the table it and ours have the same outcome and the same message, but
// for values that Flux quotes.
// What it says is kept, so that the module can be compared with it where there is no Go.
func TestAsFlux(t *testing.T) {
	var answers []answer
	for _, line := range readExpressions(t) {
		line, isQuoting := strings.CutPrefix(line, "quoting ")
		text, output, values := line, expression.Bool, readValues(t, false)
		if rest, isValue := strings.CutPrefix(line, "value "); isValue {
			text, output = rest, expression.Any
		} else if rest, isString := strings.CutPrefix(line, "string "); isString {
			text, output = rest, expression.String
		} else if rest, isParsed := strings.CutPrefix(line, "parsed "); isParsed {
			text, output, values = rest, expression.Parsed, readValues(t, true)
		}
		got := ours(text, output, values)
		want, isSettled := fluxes(text, output, values)
		// Flux makes no JSON of a value, so it has no words for a value that is none.
		isNotJSON := !isSettled && strings.Contains(got.Fault, "' is not JSON: ")
		if isQuoting {
			expectSameStart(t, got.Fault, want.Fault)
		} else if !isNotJSON && got.Fault != want.Fault || isSettled && string(got.Value) != string(want.Value) {
			t.Errorf("%s\n  here: %s %s\n  Flux: %s %s", text, got.Value, got.Fault, want.Value, want.Fault)
		}
		answers = append(answers, got)
	}
	written, err := json.MarshalIndent(answers, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	written = append(written, '\n')
	if *update {
		if err := os.WriteFile(answersFile, written, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != string(written) {
		t.Error("answers.json is not what Flux says: go test ./internal/expression -update")
	}
}

// Both are about the same expression, and what Flux quotes is missing here.
func expectSameStart(t *testing.T, ours, fluxes string) {
	t.Helper()
	start, _, _ := strings.Cut(fluxes, "': ")
	if rest, isSame := strings.CutPrefix(ours, start+"': "); !isSame || rest == "" || ours == fluxes {
		t.Errorf("a message that quotes a value\n  here: %s\n  Flux: %s", ours, fluxes)
	}
}

func ours(text string, output expression.Output, values map[string]any) answer {
	result := answer{Expression: text, Output: string(output)}
	compiled, err := expression.Compile(text, variables, output)
	if err == nil && (output == expression.Bool || output == expression.Parsed) {
		var value bool
		if value, err = compiled.Bool(values, unlimited()); err == nil {
			result.Value, _ = json.Marshal(value)
		}
	} else if err == nil {
		result.Value, err = compiled.JSON(values, unlimited())
	}
	if err != nil {
		var fault *expression.Fault
		if !errors.As(err, &fault) {
			panic(err)
		}
		result.Fault = fault.Message
	}
	return result
}

// False where Flux has a value that it never makes JSON of.
func fluxes(text string, output expression.Output, values map[string]any) (answer, bool) {
	options := []flux.Option{flux.WithCompile(), flux.WithStructVariables(variables...)}
	if output == expression.Parsed {
		options = nil
	}
	if output == expression.Bool {
		options = append(options, flux.WithOutputType(cel.BoolType))
	}
	if output == expression.String {
		options = append(options, flux.WithOutputType(cel.StringType))
	}
	result := answer{Expression: text, Output: string(output)}
	compiled, err := flux.NewExpression(text, options...)
	if err != nil {
		result.Fault = err.Error()
		return result, true
	}
	if output == expression.Any {
		_, err := compiled.Evaluate(context.Background(), values)
		if err == nil {
			return result, false
		}
		result.Fault = err.Error()
		return result, true
	}
	if output == expression.String {
		value, err := compiled.EvaluateString(context.Background(), values)
		if err != nil {
			result.Fault = err.Error()
			return result, true
		}
		result.Value, _ = json.Marshal(value)
		return result, true
	}
	value, err := compiled.EvaluateBoolean(context.Background(), values)
	if err != nil {
		result.Fault = err.Error()
		return result, true
	}
	result.Value, _ = json.Marshal(value)
	return result, true
}

func readExpressions(t *testing.T) []string {
	t.Helper()
	file, err := os.Open(expressionsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var lines []string
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if line := scanner.Text(); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Numbers as in Kubernetes' objects where hasIntegers.
func readValues(t *testing.T, hasIntegers bool) map[string]any {
	t.Helper()
	text, err := os.ReadFile(valuesFile)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if hasIntegers {
		decoder.UseNumber()
	}
	if err := decoder.Decode(&values); err != nil {
		t.Fatal(err)
	}
	if hasIntegers {
		kubernetesNumbers(values)
	}
	return values
}

func kubernetesNumbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, each := range value {
			value[key] = kubernetesNumbers(each)
		}
	case []any:
		for at, each := range value {
			value[at] = kubernetesNumbers(each)
		}
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		double, _ := value.Float64()
		return double
	}
	return value
}
