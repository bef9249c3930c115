package expression_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"sluice/engine/cel/internal/expression"
)

func unlimited() *expression.Budget { return &expression.Budget{Limit: math.MaxUint64} }

func reasonOf(t *testing.T, text string, data map[string]any) expression.Reason {
	t.Helper()
	compiled, err := expression.Compile(text, []string{"req"}, expression.Bool)
	if err == nil {
		_, err = compiled.Bool(data, unlimited())
	}
	var fault *expression.Fault
	if !errors.As(err, &fault) {
		t.Fatalf("no fault but %v", err)
	}
	return fault.Reason
}

func TestLimits(t *testing.T) {
	numbers := make([]any, 100)
	for at := range numbers {
		numbers[at] = 1.0
	}
	if got := reasonOf(t, strings.Repeat("a", expression.MaxLength+1), nil); got != expression.Limit {
		t.Errorf("too long: %s", got)
	}
	loops := "req.l.all(a, req.l.all(b, req.l.all(c, req.l.all(d, a + b + c + d >= 0.0))))"
	if got := reasonOf(t, loops, map[string]any{"req": map[string]any{"l": numbers}}); got != expression.Limit {
		t.Errorf("too costly: %s", got)
	}
	if got := reasonOf(t, strings.Repeat("(", 4000)+"true"+strings.Repeat(")", 4000), nil); got != expression.Refused {
		t.Errorf("too deep: %s", got)
	}
}

// CEL's own cost comes after a call, and does not know how many states a pattern has.
func TestMatchesLimits(t *testing.T) {
	states := `"(((a{1,30}){1,30}){1,1})*b"`
	long := strings.Repeat("a", 200_000)
	for name, text := range map[string]string{
		"constant": "req.a.matches(" + states + ")",
		"function": "matches(req.a, " + states + ")",
		"computed": "req.a.matches(req.p)",
		"many":     "req.l.all(x, req.a.matches('^a{1,10}b') || true)",
		"pattern":  "req.a.matches('" + strings.Repeat("a", 1025) + "')",
		"repeated": "'" + strings.Repeat("a", 3000) + "'.matches(" + states + ") || true",
	} {
		data := map[string]any{"req": map[string]any{
			"a": long, "p": strings.Trim(states, `"`), "l": make([]any, 10),
		}}
		if name == "repeated" {
			text = "req.l.all(x, " + text + ")"
		}
		if got := reasonOf(t, text, data); got != expression.Limit {
			t.Errorf("%s: %s", name, got)
		}
		if health, err := expression.CompileHealth(expression.HealthRule{Current: text}); err == nil {
			var fault *expression.Fault
			if _, err := health.Status(data, unlimited()); !errors.As(err, &fault) || fault.Reason != expression.Limit {
				t.Errorf("health, %s: %v", name, err)
			}
		}
	}
}

// What is kept is bounded, and what was forgotten compiles again.
func TestManyExpressions(t *testing.T) {
	for at := range 2100 {
		text := "req.a == '" + strings.Repeat("x", at) + "'"
		if _, err := expression.Compile(text, []string{"req"}, expression.Bool); err != nil {
			t.Fatal(err)
		}
	}
	for at := range 120 {
		if _, err := expression.Compile("true", []string{"v" + strings.Repeat("x", at)}, expression.Bool); err != nil {
			t.Fatal(err)
		}
	}
}

// cel-go panics where it checks this one.
func TestAnExpressionThatCannotBeCheckedIsRefused(t *testing.T) {
	if got := reasonOf(t, "[?req.a] == []", nil); got != expression.Refused {
		t.Errorf("%s", got)
	}
}
