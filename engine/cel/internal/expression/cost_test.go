package expression_test

import (
	"strings"
	"testing"

	"sluice/engine/cel/internal/expression"
)

var long = map[string]any{"req": map[string]any{
	"a":    strings.Repeat("a", 200_000),
	"b":    strings.Repeat("a", 100_000) + "b",
	"c":    strings.Repeat("a,", 10_000),
	"l":    numbered(5_000),
	"m":    numbered(5_000),
	"n":    numbered(10),
	"deep": []any{map[string]any{"a": strings.Repeat("a", 200_000)}},
	"same": []any{map[string]any{"a": strings.Repeat("a", 200_000)}},
	"t":    strings.Split(strings.Repeat("aaaaaaaaa,", 10_000), ","),
	"time": "2026-01-02T03:04:05Z",
}}

func numbered(count int) []any {
	list := make([]any, count)
	for at := range list {
		list[at] = float64(at)
	}
	return list
}

// costs answers what an evaluation costs by expressions that are checked and by those that are only parsed: it is the same.
func costOf(t *testing.T, text string) uint64 {
	t.Helper()
	costs := map[expression.Output]uint64{}
	for output, data := range map[expression.Output]map[string]any{expression.Bool: long, expression.Parsed: long} {
		compiled, err := expression.Compile(text, []string{"req"}, output)
		if err != nil {
			t.Fatal(err)
		}
		budget := unlimited()
		if _, err := compiled.Bool(data, budget); err != nil {
			t.Fatalf("%s: %s", text, err)
		}
		costs[output] = budget.Spent
	}
	if costs[expression.Bool] != costs[expression.Parsed] {
		t.Errorf("%s: %d where it is checked, %d where it is parsed", text, costs[expression.Bool], costs[expression.Parsed])
	}
	return costs[expression.Parsed]
}

// A call costs what it looks at: a tenth of the bytes, as in CEL's own functions.
func TestCallsCostTheirBytes(t *testing.T) {
	for text, least := range map[string]uint64{
		"req.a.indexOf('b') < 0":                                20_000,
		"req.a.lastIndexOf('b') < 0":                            20_000,
		"req.a.indexOf('aaaaaaaaab') < 0":                       200_000,
		"req.a.indexOf('aaaaaaaaab', 5) < 0":                    200_000,
		"req.a.replace('x', 'y') == req.a":                      40_000,
		"size(req.a.replace('a', 'abc', 1)) > 0":                20_000,
		"size(req.a.replace('a', 'aaa')) > 0":                   80_000,
		"size(req.c.split(',')) > 0":                            12_000,
		"size(req.c.split(',', 2)) > 0":                         2_000,
		"size(req.t.join('--')) > 0":                            20_000,
		"size('%s'.format([req.a])) > 0":                        20_000,
		"size('%s'.format([req.deep])) > 0":                     20_000,
		"size(req.a.charAt(1)) > 0":                             20_000,
		"size(req.a.substring(1, 2)) > 0":                       20_000,
		"size(req.a.lowerAscii()) > 0":                          20_000,
		"size(req.a.upperAscii()) > 0":                          20_000,
		"size(req.a.trim()) > 0":                                20_000,
		"size(req.a.reverse()) > 0":                             20_000,
		"size(strings.quote(req.a)) > 0":                        20_000,
		"size(base64.encode(bytes(req.a))) > 0":                 20_000,
		"size(req.a) > 0":                                       20_000,
		"req.a.matches('b') == false":                           20_000,
		"req.deep == req.same":                                  20_000,
		"req.deep != [1]":                                       1,
		"req.deep[0] in req.same":                               20_000,
		"sets.intersects(req.l, [6000.0]) == false":             5_000,
		"timestamp(req.time).getHours('Europe/Berlin') > 0":     100,
		"req.n.all(x, timestamp(req.time).getHours('UTC') > 0)": 1_000,
	} {
		if cost := costOf(t, text); cost < least || cost > 8*least+50 {
			t.Errorf("%s costs %d, not about %d", text, cost, least)
		}
	}
}

// One call alone would take longer than a whole evaluation may: it does not begin.
func TestCallsTooCostlyToBegin(t *testing.T) {
	for _, text := range []string{
		"req.a.indexOf(req.b) < 0",
		"req.a.indexOf(req.b, 1) < 0",
		"req.a.lastIndexOf(req.b) < 0",
		"req.a.replace('a', req.a) == ''",
		"req.a.replace('', req.b, 1000) == ''",
		"req.l.join(req.a) == ''",
		"'%.999999999f'.format([1.5]) == ''",
		"('%.' + '99999999999999999999f').format([1.5]) == ''",
		"sets.contains(req.l, req.m)",
		"sets.intersects(req.l, req.m.map(x, x + 0.5))",
		"sets.equivalent(req.l, req.m)",
		// The fault of a call does not hide what it would have cost.
		"req.a.indexOf(req.b) < 0 || true",
		"req.n.all(x, req.n.all(y, req.n.all(z, req.a.indexOf('b') < 0)))",
		"req.n.all(x, req.n.all(y, req.n.all(z, req.deep == req.same)))",
	} {
		if got := reasonOf(t, text, long); got != expression.Limit {
			t.Errorf("%s: %s", text, got)
		}
		if health, err := expression.CompileHealth(expression.HealthRule{Current: text}); err != nil {
			t.Error(err)
		} else if _, err := health.Status(long, unlimited()); err == nil || !strings.Contains(err.Error(), "cost") {
			t.Errorf("health, %s: %v", text, err)
		}
	}
}

// All expressions of an object have one budget. What is left over when it ends is not evaluated.
func TestBudget(t *testing.T) {
	compiled, err := expression.Compile("req.a.indexOf('b') < 0", []string{"req"}, expression.Bool)
	if err != nil {
		t.Fatal(err)
	}
	budget := &expression.Budget{Limit: 50_000}
	for at := range 4 {
		_, err := compiled.Bool(long, budget)
		if isOver := err != nil; isOver != (at == 3) {
			t.Errorf("evaluation %d with %d spent: %v", at, budget.Spent, err)
		}
		if err != nil && !strings.Contains(err.Error(), "all expressions of an object together") {
			t.Error(err)
		}
	}
	costly, err := expression.Compile("req.a.indexOf(req.b) < 0", []string{"req"}, expression.Bool)
	if err != nil {
		t.Fatal(err)
	}
	budget = unlimited()
	if _, err := costly.Bool(long, budget); err == nil || budget.Spent < 1_000_000 {
		t.Errorf("an evaluation beyond its limit has spent %d", budget.Spent)
	}
}
