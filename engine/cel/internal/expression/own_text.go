package expression

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
)

// ownText is what an expression itself spells and an error may therefore quote.
type ownText struct {
	// Names of variables and fields, and literal operands of the calls whose errors quote an operand, as Go prints them.
	words map[string]bool
	// Names of functions, also of those that the expression does not call.
	functions map[string]*decls.FunctionDecl
	// Whether such an operand is computed: then an error may quote a value, even one that is the same as a word.
	computesOperands bool
}

// Which operands errors of a call quote, from the first after the receiver.
var quotedFrom = map[string]int{
	operators.Index:               0,
	operators.OptIndex:            0,
	operators.OptSelect:           0,
	overloads.Matches:             0,
	"charAt":                      0,
	"substring":                   0,
	"indexOf":                     1,
	"lastIndexOf":                 1,
	overloads.TimeGetFullYear:     0,
	overloads.TimeGetMonth:        0,
	overloads.TimeGetDayOfYear:    0,
	overloads.TimeGetDate:         0,
	overloads.TimeGetDayOfMonth:   0,
	overloads.TimeGetDayOfWeek:    0,
	overloads.TimeGetHours:        0,
	overloads.TimeGetMinutes:      0,
	overloads.TimeGetSeconds:      0,
	overloads.TimeGetMilliseconds: 0,
}

func ownTextOf(expression *cel.Ast, env *cel.Env) ownText {
	own := ownText{words: map[string]bool{}, functions: env.Functions()}
	ast.PreOrderVisit(expression.NativeRep().Expr(), ast.NewExprVisitor(func(part ast.Expr) {
		switch part.Kind() {
		case ast.IdentKind:
			own.words[part.AsIdent()] = true
		case ast.SelectKind:
			own.words[part.AsSelect().FieldName()] = true
		case ast.CallKind:
			own.addOperands(part.AsCall())
		}
	}))
	return own
}

func (o *ownText) addOperands(call ast.CallExpr) {
	from, isQuoted := quotedFrom[call.FunctionName()]
	if !isQuoted {
		return
	}
	operands := call.Args()
	if !call.IsMemberFunction() {
		// The receiver is the first argument.
		from++
	}
	for _, operand := range operands[min(from, len(operands)):] {
		if operand.Kind() == ast.LiteralKind {
			o.words[fmt.Sprint(operand.AsLiteral())] = true
		} else {
			o.computesOperands = true
		}
	}
}

func (o *ownText) hasAll(operands []string) bool {
	for _, operand := range operands {
		if !o.words[operand] {
			return false
		}
	}
	return !o.computesOperands
}
