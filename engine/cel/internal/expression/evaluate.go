package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"google.golang.org/protobuf/types/known/structpb"
)

// Reason says what a fault is of.
type Reason string

const (
	Refused    Reason = "expression"
	Evaluation Reason = "evaluation"
	Limit      Reason = "limit"
)

// Fault is an expression that does not compile, or has no result.
type Fault struct {
	Reason  Reason
	Message string
}

func (f *Fault) Error() string { return f.Message }

// In front of a fault's message.
func prefixed(prefix string, err error) error {
	if fault := (*Fault)(nil); errors.As(err, &fault) {
		return &Fault{fault.Reason, prefix + fault.Message}
	}
	return err
}

// Budget is what expressions may cost together: those of one object in one run. The last one may go beyond it, by what one
// evaluation may cost.
type Budget struct {
	Limit uint64
	Spent uint64
	// What each of them may cost. None: Kubernetes' limit.
	Each uint64
}

func (b *Budget) each() uint64 {
	if b.Each == 0 {
		return costLimit
	}
	return b.Each
}

func (e *Expression) evaluate(data map[string]any, budget *Budget) (ref.Val, error) {
	if budget.Spent >= budget.Limit {
		return nil, &Fault{Limit, fmt.Sprintf("the CEL expression '%s' is not evaluated: "+
			"all expressions of an object together have cost more than they may in one run: compute less in them", e.text)}
	}
	value, details, err := e.program.Eval(data)
	reason := Evaluation
	if cancelled := (interpreter.EvalCancelledError{}); errors.As(err, &cancelled) || errors.Is(err, errLimit) {
		reason = Limit
		budget.Spent += e.limit
	} else if cost := details.ActualCost(); cost != nil {
		budget.Spent += *cost
	}
	if err == nil {
		return value, nil
	}
	return nil, &Fault{reason, fmt.Sprintf("failed to evaluate the CEL expression '%s': %s", e.text, errorText(err, e.own))}
}

// Bool answers what an expression of type bool is for these values.
func (e *Expression) Bool(data map[string]any, budget *Budget) (bool, error) {
	value, err := e.evaluate(data, budget)
	if err != nil {
		return false, err
	}
	result, ok := value.(types.Bool)
	if !ok {
		return false, &Fault{Evaluation, fmt.Sprintf("failed to evaluate CEL expression as boolean: '%s'", e.text)}
	}
	return bool(result), nil
}

// JSON answers the result as JSON. Whole numbers beyond 2^53 become strings, which is CEL's own rule.
func (e *Expression) JSON(data map[string]any, budget *Budget) (json.RawMessage, error) {
	value, err := e.evaluate(data, budget)
	if err != nil {
		return nil, err
	}
	native, err := value.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return nil, e.notJSON(err)
	}
	text, err := json.Marshal(native.(*structpb.Value).AsInterface())
	if err != nil {
		return nil, e.notJSON(err)
	}
	return text, nil
}

func (e *Expression) notJSON(err error) error {
	return &Fault{Evaluation, fmt.Sprintf("the result of the CEL expression '%s' is not JSON: %s", e.text, errorText(err, e.own))}
}

// Rules are the variables and validations of a provider of generic-oidc.
type Rules struct {
	Variables []struct {
		Name       string `json:"name"`
		Expression string `json:"expression"`
	} `json:"variables"`
	Validations []struct {
		Expression string `json:"expression"`
		Message    string `json:"message"`
	} `json:"validations"`
}

var claimsAndVars = []string{"claims", "vars"}

// CompileRules finds the first expression that does not compile.
func CompileRules(rules Rules) error {
	_, _, err := compileRules(rules, costLimit)
	return err
}

func compileRules(rules Rules, limit uint64) (variables, validations []*Expression, err error) {
	for _, each := range rules.Variables {
		compiled, err := CompileWithin(limit, each.Expression, claimsAndVars, Any)
		if err != nil {
			return nil, nil, prefixed(fmt.Sprintf("invalid expression for variable %q: ", each.Name), err)
		}
		variables = append(variables, compiled)
	}
	for _, each := range rules.Validations {
		compiled, err := CompileWithin(limit, each.Expression, claimsAndVars, Bool)
		if err != nil {
			return nil, nil, prefixed(fmt.Sprintf("invalid expression for validation %q: ", each.Message), err)
		}
		validations = append(validations, compiled)
	}
	return variables, validations, nil
}

// Failures answers the messages of all validations that are false. Variables keep the types that CEL gives them.
func Failures(rules Rules, claims map[string]any, budget *Budget) ([]string, error) {
	variables, validations, err := compileRules(rules, budget.each())
	if err != nil {
		return nil, err
	}
	vars := map[string]any{}
	data := map[string]any{"claims": claims, "vars": vars}
	for at, variable := range variables {
		value, err := variable.evaluate(data, budget)
		if err != nil {
			return nil, prefixed(fmt.Sprintf("failed to evaluate variable %q: ", rules.Variables[at].Name), err)
		}
		vars[rules.Variables[at].Name] = value.Value()
	}
	failures := []string{}
	for at, validation := range validations {
		ok, err := validation.Bool(data, budget)
		if err != nil {
			return nil, prefixed("failed to evaluate validation: ", err)
		}
		if !ok {
			failures = append(failures, rules.Validations[at].Message)
		}
	}
	return failures, nil
}
