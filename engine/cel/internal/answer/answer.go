// Package answer reads a request, does what it asks, and writes the result.
package answer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"sluice/engine/cel/internal/expression"
)

const lengthBytes = 4

// A variable and the length of its JSON, which stands behind the header.
type segment struct {
	Name   string
	Length int
}

func (s *segment) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&s.Name, &s.Length})
}

type request struct {
	// "compile", "evaluate", "compileRules", "failures", "compileHealth" or "health".
	Do         string            `json:"do"`
	Expression string            `json:"expression"`
	Variables  []string          `json:"variables"`
	Output     expression.Output `json:"output"`
	Rules      expression.Rules  `json:"rules"`
	// Whether whole numbers of the values are int64, as in Kubernetes' objects; they are doubles otherwise.
	HasIntegers bool                  `json:"hasIntegers"`
	Health      expression.HealthRule `json:"health"`
	// What all evaluations of the request may cost together. None: as much as each may.
	Budget *uint64 `json:"budget"`
	// What each of them may cost. None: Kubernetes' limit.
	Limit uint64 `json:"limit"`
	// What evaluations may cost before those that are left are not begun: the host asks for them again. None: no matter how much.
	Turn   *uint64     `json:"turn"`
	Shared []segment   `json:"shared"`
	Each   [][]segment `json:"each"`
}

func (r *request) isTurnOver(budget *expression.Budget) bool {
	return r.Turn != nil && budget.Spent > 0 && budget.Spent >= *r.Turn
}

// The result of one evaluation, or why there is none.
type result struct {
	Value json.RawMessage   `json:"value,omitempty"`
	Fault *faultDescription `json:"fault,omitempty"`
}

type faultDescription struct {
	Reason  expression.Reason `json:"reason"`
	Message string            `json:"message"`
}

// Either all results, or why there are none.
type response struct {
	Results []result          `json:"results"`
	Fault   *faultDescription `json:"fault,omitempty"`
	// What the evaluations have cost.
	Cost uint64 `json:"cost"`
}

// To answers a request: the length of its header (four bytes, the lowest first), the header, and the JSON of all values one
// after the other, in the header's order. The answer is JSON.
func To(input []byte) []byte {
	budget := &expression.Budget{Limit: math.MaxUint64}
	results, err := perform(input, budget)
	said := response{Results: results, Cost: budget.Spent}
	if err != nil {
		said.Fault = failed(err).Fault
	}
	// Messages quote what tenants write: not escaped, so that they are the same text.
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(said); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func perform(input []byte, budget *expression.Budget) ([]result, error) {
	if len(input) < lengthBytes {
		return nil, errors.New("a request has a header")
	}
	length := int(binary.LittleEndian.Uint32(input))
	if length > len(input)-lengthBytes {
		return nil, errors.New("the header is longer than the request")
	}
	var asked request
	if err := json.Unmarshal(input[lengthBytes:lengthBytes+length], &asked); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	if asked.Budget != nil {
		budget.Limit = *asked.Budget
	}
	budget.Each = asked.Limit
	values := &reader{rest: input[lengthBytes+length:], hasIntegers: asked.HasIntegers}
	switch asked.Do {
	case "compile":
		_, err := compileFor(asked)
		return []result{}, err
	case "evaluate":
		return evaluate(asked, values, budget)
	case "compileRules":
		return []result{}, expression.CompileRules(asked.Rules)
	case "failures":
		shared, err := values.take(asked.Shared)
		if err != nil {
			return nil, err
		}
		claims, _ := shared["claims"].(map[string]any)
		failures, err := expression.Failures(asked.Rules, claims, budget)
		if err != nil {
			return nil, err
		}
		return []result{valued(failures)}, nil
	case "compileHealth":
		_, err := expression.CompileHealth(asked.Health)
		return []result{}, err
	case "health":
		return health(asked, values, budget)
	}
	return nil, fmt.Errorf("%q is nothing to do", asked.Do)
}

func compileFor(asked request) (*expression.Expression, error) {
	if asked.Limit == 0 {
		return expression.Compile(asked.Expression, asked.Variables, asked.Output)
	}
	return expression.CompileWithin(asked.Limit, asked.Expression, asked.Variables, asked.Output)
}

func evaluate(asked request, values *reader, budget *expression.Budget) ([]result, error) {
	compiled, err := compileFor(asked)
	if err != nil {
		return nil, err
	}
	shared, err := values.take(asked.Shared)
	if err != nil {
		return nil, err
	}
	results := make([]result, 0, len(asked.Each))
	for _, segments := range asked.Each {
		if asked.isTurnOver(budget) {
			break
		}
		own, err := values.take(segments)
		if err != nil {
			results = append(results, failed(err))
			continue
		}
		for name, value := range shared {
			own[name] = value
		}
		results = append(results, one(compiled, asked.Output, own, budget))
	}
	return results, nil
}

// Each of asked.Each is one object.
func health(asked request, values *reader, budget *expression.Budget) ([]result, error) {
	compiled, err := expression.CompileHealth(asked.Health)
	if err != nil {
		return nil, err
	}
	results := make([]result, 0, len(asked.Each))
	for _, segments := range asked.Each {
		if asked.isTurnOver(budget) {
			break
		}
		own, err := values.take(segments)
		if err != nil {
			return nil, err
		}
		object, _ := own["object"].(map[string]any)
		status, err := compiled.Status(object, budget)
		if err != nil {
			results = append(results, failed(err))
			continue
		}
		results = append(results, valued(status))
	}
	return results, nil
}

func one(
	compiled *expression.Expression, output expression.Output, data map[string]any, budget *expression.Budget,
) result {
	if output == expression.Bool {
		value, err := compiled.Bool(data, budget)
		if err != nil {
			return failed(err)
		}
		return valued(value)
	}
	value, err := compiled.JSON(data, budget)
	if err != nil {
		return failed(err)
	}
	return result{Value: value}
}

func valued(value any) result {
	text, err := json.Marshal(value)
	if err != nil {
		return failed(err)
	}
	return result{Value: text}
}

// An error that is no fault is a mistake of the host.
func failed(err error) result {
	if fault := (*expression.Fault)(nil); errors.As(err, &fault) {
		return result{Fault: &faultDescription{fault.Reason, fault.Message}}
	}
	return result{Fault: &faultDescription{"broken", err.Error()}}
}

type reader struct {
	rest        []byte
	hasIntegers bool
}

// take reads the next values. As Flux does, it reads the first JSON value of a text and not what stands behind it.
func (r *reader) take(segments []segment) (map[string]any, error) {
	values := make(map[string]any, len(segments))
	var first error
	for _, each := range segments {
		if each.Length < 0 || each.Length > len(r.rest) {
			return nil, errors.New("the values are longer than the request")
		}
		text := r.rest[:each.Length]
		r.rest = r.rest[each.Length:]
		var value map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		if r.hasIntegers {
			decoder.UseNumber()
		}
		if err := decoder.Decode(&value); err != nil && first == nil {
			first = &expression.Fault{Reason: expression.Evaluation, Message: fmt.Sprintf("failed to parse '%s' as JSON: %s", each.Name, jsonErrorText(err))}
		}
		if r.hasIntegers {
			withNumbers(value)
		}
		values[each.Name] = value
	}
	return values, first
}

// jsonErrorText answers an error of Go's JSON reader without what it has read.
func jsonErrorText(err error) string {
	if syntaxError := (*json.SyntaxError)(nil); errors.As(err, &syntaxError) {
		return fmt.Sprintf("a syntax error at byte %d", syntaxError.Offset)
	}
	if typeError := (*json.UnmarshalTypeError)(nil); errors.As(err, &typeError) {
		// A number is quoted behind the name of its type.
		kind, _, _ := strings.Cut(typeError.Value, " ")
		return fmt.Sprintf("cannot read a JSON %s at byte %d", kind, typeError.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err.Error()
	}
	return "it cannot be read"
}

// Replaces each json.Number inside by what Kubernetes' reader makes of it: an int64 where it is written as one and fits.
func withNumbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, each := range value {
			value[key] = withNumbers(each)
		}
	case []any:
		for at, each := range value {
			value[at] = withNumbers(each)
		}
	case json.Number:
		if !strings.ContainsAny(string(value), ".eE") {
			if whole, err := value.Int64(); err == nil {
				return whole
			}
		}
		// One that is too large for a double is infinite.
		double, _ := value.Float64()
		return double
	}
	return value
}
