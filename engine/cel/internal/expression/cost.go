package expression

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// CEL counts every call of an extension as one operation, however long its texts are, and takes the length of a list for the work
// of comparing it. Here calls cost what they look at and what they make.

const (
	// CEL's own factor: so many bytes cost as much as one operation.
	bytesPerCost = 10
	// Reading a time zone takes as long as so many operations.
	zoneCost = 100
	// More than any call may cost.
	endless = costLimit + 1
)

var errLimit = errors.New("limit of cost")

// callCosts charges calls after they have ended, beside CEL's own costs.
type callCosts struct{}

func (callCosts) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	cost := uint64(endless)
	switch function {
	case overloads.Matches:
		cost = matchCost(args)
	case operators.Equals, operators.NotEquals:
		cost = ofBytes(min(bytesIn(args[0]), bytesIn(args[1])))
	case operators.In, operators.OldIn:
		// A key of a map is found at once.
		if _, isList := args[1].(traits.Lister); !isList {
			return nil
		}
		cost = ofBytes(bytesIn(args[1]))
	case operators.Add, overloads.Contains, overloads.TypeConvertDyn, overloads.TypeConvertType:
		return nil
	default:
		cost = max(costBefore(function, args), ofBytes(textBytes(args)))
		if len(args) == 2 && args[0].Type() == types.TimestampType && args[1].Type() == types.StringType {
			cost += zoneCost
		}
	}
	return &cost
}

// costBefore is what a call costs whose work is more than the length of its texts: it is known before it begins.
func costBefore(function string, args []ref.Val) uint64 {
	switch function {
	case "indexOf", "lastIndexOf":
		if text, part, ok := twoTexts(args); ok {
			return ofBytes(product(len(text), len(part)))
		}
	case "replace":
		if text, part, ok := twoTexts(args); ok && len(args) >= 3 {
			with, _ := args[2].(types.String)
			return ofBytes(len(text) + product(countIn(text, part, args[3:]), len(with)))
		}
	case "split":
		if text, separator, ok := twoTexts(args); ok {
			return ofBytes(len(text)) + uint64(countIn(text, separator, args[2:]))
		}
	case "join":
		list, isList := args[0].(traits.Lister)
		if !isList {
			return 0
		}
		separator := types.String("")
		if len(args) == 2 {
			separator, _ = args[1].(types.String)
		}
		size, _ := list.Size().(types.Int)
		return ofBytes(bytesIn(list) + product(int(size), len(separator)))
	case "format":
		if text, isText := args[0].(types.String); isText && len(args) == 2 {
			return ofBytes(len(text) + precisions(string(text)) + bytesIn(args[1]))
		}
	case "sets.contains", "sets.intersects":
		return 1 + comparisons(args)
	case "sets.equivalent":
		return 1 + 2*comparisons(args)
	}
	return 0
}

func ofBytes(bytes int) uint64 {
	return max(1, min(uint64(bytes+bytesPerCost-1)/bytesPerCost, endless))
}

// How often a part is looked for and found. limit is the last argument of the call, if there is one; a negative one is none.
func countIn(text, part string, limit []ref.Val) int {
	count := strings.Count(text, part)
	if len(limit) == 1 {
		if most, isInt := limit[0].(types.Int); isInt && most >= 0 {
			return min(count, int(most))
		}
	}
	return count
}

// Not more than matters, so that it does not overflow.
func product(a, b int) int { return min(a, endless*bytesPerCost) * min(b, endless*bytesPerCost) }

// Of each element of a list with each of the other.
func comparisons(args []ref.Val) uint64 {
	if len(args) != 2 {
		return 0
	}
	return ofBytes(product(bytesIn(args[0]), bytesIn(args[1])) / elementBytes)
}

func twoTexts(args []ref.Val) (first, second string, ok bool) {
	if len(args) < 2 {
		return "", "", false
	}
	one, isFirst := args[0].(types.String)
	two, isSecond := args[1].(types.String)
	return string(one), string(two), isFirst && isSecond
}

func textBytes(args []ref.Val) int {
	sum := 0
	for _, arg := range args {
		switch text := arg.(type) {
		case types.String:
			sum += len(text)
		case types.Bytes:
			sum += len(text)
		}
	}
	return sum
}

// The digits that a format asks for.
func precisions(format string) int {
	sum := 0
	for at := strings.IndexByte(format, '.'); at >= 0; {
		rest := format[at+1:]
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits > 0 {
			asked, err := strconv.Atoi(rest[:digits])
			if err != nil {
				return endless * bytesPerCost
			}
			sum = min(sum+asked, endless*bytesPerCost)
		}
		next := strings.IndexByte(rest, '.')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return sum
}

// An element of a list or a map counts as one operation.
const elementBytes = bytesPerCost

// bytesIn measures a value with all that is in it, as far as that matters.
func bytesIn(value ref.Val) int {
	left := endless * bytesPerCost
	measure(value, &left)
	return endless*bytesPerCost - max(left, 0)
}

func measure(value any, left *int) {
	switch value := value.(type) {
	case string:
		*left -= len(value)
	case types.String:
		*left -= len(value)
	case types.Bytes:
		*left -= len(value)
	case []any:
		for _, each := range value {
			*left -= elementBytes
			if measure(each, left); *left < 0 {
				return
			}
		}
	case map[string]any:
		for key, each := range value {
			*left -= elementBytes + len(key)
			if measure(each, left); *left < 0 {
				return
			}
		}
	case *types.Optional:
		if value.HasValue() {
			measure(value.GetValue(), left)
		}
	case traits.Mapper:
		if fields, isNative := value.Value().(map[string]any); isNative {
			measure(fields, left)
			return
		}
		for at := value.Iterator(); at.HasNext() == types.True && *left >= 0; {
			key := at.Next()
			*left -= elementBytes
			measure(key, left)
			measure(value.Get(key), left)
		}
	case traits.Lister:
		for at := value.Iterator(); at.HasNext() == types.True && *left >= 0; {
			*left -= elementBytes
			measure(at.Next(), left)
		}
	}
}

// limitedCalls refuses calls that would cost more than a whole evaluation may, before they begin.
func limitedCalls(env *cel.Env) (interpreter.InterpretableDecorator, error) {
	calls := map[string]func(...ref.Val) ref.Val{}
	for _, name := range []string{
		"indexOf", "lastIndexOf", "replace", "split", "join", "format", "sets.contains", "sets.intersects", "sets.equivalent",
	} {
		if err := addCalls(calls, env.Functions()[name]); err != nil {
			return nil, err
		}
	}
	return func(part interpreter.Interpretable) (interpreter.Interpretable, error) {
		call, isCall := part.(interpreter.InterpretableCall)
		if !isCall {
			return part, nil
		}
		begin, isLimited := calls[nameOf(call)]
		if !isLimited {
			return limitedMatches(call)
		}
		function := call.Function()
		limited := func(values ...ref.Val) ref.Val {
			if costBefore(function, values) > costLimit {
				return types.WrapErr(fmt.Errorf("%w: %s would cost more than %d", errLimit, function, costLimit))
			}
			return begin(values...)
		}
		return interpreter.NewCall(call.ID(), function, call.OverloadID(), call.Args(), limited), nil
	}, nil
}

// An expression that was parsed alone knows no overloads.
func nameOf(call interpreter.InterpretableCall) string {
	if overload := call.OverloadID(); overload != "" {
		return overload
	}
	return call.Function()
}

func addCalls(calls map[string]func(...ref.Val) ref.Val, function *decls.FunctionDecl) error {
	bindings, err := function.Bindings()
	if err != nil {
		return err
	}
	for _, each := range bindings {
		calls[each.Operator] = func(values ...ref.Val) ref.Val {
			switch {
			case len(values) == 1 && each.Unary != nil:
				return each.Unary(values[0])
			case len(values) == 2 && each.Binary != nil:
				return each.Binary(values[0], values[1])
			case each.Function != nil:
				return each.Function(values...)
			}
			return types.NewErr("no such overload: %s", function.Name())
		}
	}
	return nil
}
