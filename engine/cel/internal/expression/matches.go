package expression

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// CEL counts the cost of a call when it has ended, and takes a pattern's text for its size. A pattern of 30 bytes can have a
// thousand states, each of which is tried at each byte of what is matched.
const (
	// Of a pattern, in bytes.
	maxPattern = 1024
	// Of one call: states of the pattern times bytes of what is matched. About a third of a second.
	maxMatchSteps = 4_000_000
	// So many steps cost as much as one operation of CEL.
	stepsPerCost = 10
)

type pattern struct {
	compiled *regexp.Regexp
	states   int
}

var patterns = kept[pattern]{max: maxPrograms}

func patternOf(text string) (pattern, error) {
	if len(text) > maxPattern {
		return pattern{}, fmt.Errorf("%w: a pattern has %d bytes, more than %d", errLimit, len(text), maxPattern)
	}
	return patterns.get(text, func() (pattern, error) {
		compiled, err := regexp.Compile(text)
		if err != nil {
			return pattern{}, err
		}
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return pattern{}, err
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			return pattern{}, err
		}
		return pattern{compiled, len(program.Inst)}, nil
	})
}

func (p pattern) steps(text string) int { return p.states * (len(text) + 1) }

func (p pattern) matches(text string) ref.Val {
	if steps := p.steps(text); steps > maxMatchSteps {
		return types.WrapErr(fmt.Errorf("%w: %d bytes are matched with a pattern of %d states, more than %d steps",
			errLimit, len(text), p.states, maxMatchSteps))
	}
	return types.Bool(p.compiled.MatchString(text))
}

func matches(values ...ref.Val) ref.Val {
	text, isText := values[0].(types.String)
	if !isText {
		return types.NewErr("no such overload: %s", overloads.Matches)
	}
	source, isPattern := values[1].(types.String)
	if !isPattern {
		return types.MaybeNoSuchOverloadErr(values[1])
	}
	compiled, err := patternOf(string(source))
	if err != nil {
		return types.WrapErr(err)
	}
	return compiled.matches(string(text))
}

// limitedMatches gives calls of matches their limits.
func limitedMatches(call interpreter.InterpretableCall) (interpreter.Interpretable, error) {
	if call.Function() != overloads.Matches || len(call.Args()) != 2 {
		return call, nil
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), matches), nil
}

// A constant pattern is compiled with the expression. A program takes cel-go's own optimization after all others, so it is
// changed in place.
func init() {
	interpreter.MatchesRegexOptimization.Factory = func(
		call interpreter.InterpretableCall, text string,
	) (interpreter.InterpretableCall, error) {
		compiled, err := patternOf(text)
		if err != nil {
			return nil, err
		}
		match := func(values ...ref.Val) ref.Val {
			if len(values) != 2 {
				return types.NoSuchOverloadErr()
			}
			value, ok := values[0].Value().(string)
			if !ok {
				return types.NoSuchOverloadErr()
			}
			return compiled.matches(value)
		}
		return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), match), nil
	}
}

// matchCost is what a call of matches costs, with the time that it takes to compile a pattern for the first time.
func matchCost(args []ref.Val) uint64 {
	text, source, ok := twoTexts(args)
	if !ok {
		return 1
	}
	compiled, err := patternOf(source)
	if err != nil {
		return ofBytes(len(source))
	}
	return uint64(compiled.steps(text)/stepsPerCost + compiled.states)
}
