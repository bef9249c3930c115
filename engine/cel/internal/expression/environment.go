// Package expression compiles and evaluates CEL expressions in Flux's environment, to the option and with Flux's messages
// (fluxcd/pkg/runtime/cel v0.110.1, of which internal/flux holds a copy that the tests compare with), and with limits.
package expression

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// MaxLength is the longest expression, in bytes: compiling takes longer the longer it is, and nothing else bounds that.
const MaxLength = 16 << 10

// Kubernetes' limit of one evaluation. Flux has none.
const costLimit = 1_000_000

// Kept until there are more than these; then all are forgotten, which costs a millisecond for each that is used again.
const (
	maxPrograms     = 1000
	maxEnvironments = 50
)

// Output is what an expression has to be.
type Output string

const (
	Bool   Output = "bool"
	String Output = "string"
	Any    Output = "value"
	// Parsed and not checked: Flux's health expressions, whose variables are the fields of an object of any kind.
	Parsed Output = "parsed"
)

// The type that an expression has to have before it is evaluated: dyn is not enough.
var staticTypes = map[Output]*cel.Type{Bool: cel.BoolType, String: cel.StringType}

// Expression is one that compiles.
type Expression struct {
	text    string
	own     ownText
	program cel.Program
	// What one evaluation may cost.
	limit uint64
}

type kept[Value any] struct {
	mu     sync.Mutex
	max    int
	values map[string]Value
}

func (k *kept[Value]) get(key string, produce func() (Value, error)) (Value, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if value, ok := k.values[key]; ok {
		return value, nil
	}
	value, err := produce()
	if err != nil {
		return value, err
	}
	if k.values == nil || len(k.values) >= k.max {
		k.values = map[string]Value{}
	}
	k.values[key] = value
	return value, nil
}

var (
	environments = kept[*cel.Env]{max: maxEnvironments}
	programs     = kept[*Expression]{max: maxPrograms}
)

// Compile answers the expression, or a Fault with Flux's message.
func Compile(text string, variables []string, output Output) (*Expression, error) {
	return CompileWithin(costLimit, text, variables, output)
}

// CompileWithin is Compile with what one evaluation may cost, where that is less than Kubernetes' limit.
func CompileWithin(limit uint64, text string, variables []string, output Output) (*Expression, error) {
	limit = min(limit, costLimit)
	if len(text) > MaxLength {
		return nil, &Fault{Limit, fmt.Sprintf(
			"the CEL expression has %d bytes, which is more than the %d that are allowed: split it, or compute less in it",
			len(text), MaxLength)}
	}
	declared := strings.Join(variables, ",")
	return programs.get(fmt.Sprintf("%d %s %s %s", limit, declared, output, text), func() (*Expression, error) {
		env, err := environments.get(declared, func() (*cel.Env, error) { return environment(variables) })
		if err != nil {
			return nil, &Fault{Refused, fmt.Sprintf("failed to create CEL environment: %s", err)}
		}
		return compile(env, text, output, limit)
	})
}

func environment(variables []string) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		ext.Strings(),
		ext.Sets(),
		ext.Encoders(),
	}
	for _, name := range variables {
		options = append(options, cel.Variable(name, cel.ObjectType("google.protobuf.Struct")))
	}
	return cel.NewEnv(options...)
}

func compile(env *cel.Env, text string, output Output, limit uint64) (expression *Expression, err error) {
	// cel-go's check of literals panics for some optional elements, for example [?a.b].
	defer func() {
		if recover() != nil {
			expression, err = nil, &Fault{Refused, fmt.Sprintf("failed to parse the CEL expression '%s': CEL cannot check it", text)}
		}
	}()
	parse := env.Compile
	if output == Parsed {
		parse = env.Parse
	}
	checked, issues := parse(text)
	if issues != nil {
		return nil, &Fault{Refused, fmt.Sprintf("failed to parse the CEL expression '%s': %s", text, issues.String())}
	}
	if want, got := staticTypes[output], checked.OutputType(); want != nil && got != want {
		return nil, &Fault{Refused, fmt.Sprintf("CEL expression output type mismatch: expected %s, got %s", want, got)}
	}
	limited, err := limitedCalls(env)
	if err != nil {
		return nil, &Fault{Refused, fmt.Sprintf("failed to create CEL program: %s", err)}
	}
	program, err := env.Program(checked,
		cel.EvalOptions(cel.OptOptimize),
		cel.InterruptCheckFrequency(100),
		cel.CustomDecorator(limited),
		cel.CostTracking(callCosts{}),
		cel.CostLimit(limit),
	)
	if errors.Is(err, errLimit) {
		return nil, &Fault{Limit, fmt.Sprintf("the CEL expression '%s': %s", text, err)}
	}
	if err != nil {
		return nil, &Fault{Refused, fmt.Sprintf("failed to create CEL program: %s", err)}
	}
	return &Expression{text, ownTextOf(checked, env), program, limit}, nil
}
