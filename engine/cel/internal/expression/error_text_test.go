package expression_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sluice/engine/cel/internal/expression"
)

const secret = "hunter2"

// An object whose text and number must not be in any message.
func guarded() map[string]any {
	return map[string]any{"req": map[string]any{
		"text":   secret,
		"number": int64(987654321),
		"half":   98765.25,
		"list":   []any{"a"},
		"map":    map[string]any{"known": int64(1)},
		"time":   "2026-01-02T03:04:05Z",
	}}
}

// What an expression that has no result says of it, checked and parsed alone.
func messagesOf(t *testing.T, text string) []string {
	t.Helper()
	var messages []string
	for _, output := range []expression.Output{expression.Bool, expression.Any, expression.Parsed} {
		compiled, err := expression.Compile(text, []string{"req"}, output)
		if err == nil && output == expression.Any {
			_, err = compiled.JSON(guarded(), unlimited())
		} else if err == nil {
			_, err = compiled.Bool(guarded(), unlimited())
		}
		var fault *expression.Fault
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("%s: %v is no fault", text, err)
		}
		if err != nil {
			messages = append(messages, fault.Message)
		}
	}
	return messages
}

// Every function and operator is called with every value: none of the messages has one.
func TestNoMessageQuotesAValue(t *testing.T) {
	values := []string{
		"req.text", "req.number", "req.half", "req.list", "req.map", "bytes(req.text)", "dyn(req.text)", "optional.of(req.text)",
		"[req.text]", "{req.text: req.number}", "req.text + '('", "string(req.number)", "timestamp(req.time)", "'a'", "1",
	}
	forms := []string{
		"%[1]s == 1 && {'a': 1}[%[2]s] == 1", "req.map[%[1]s] == %[2]s", "%[1]s[%[2]s] == 1", "%[1]s[?%[2]s].value() == 1",
		"%[1]s.known == 1", "%[1]s.?known.value() == 1", "%[1]s in %[2]s", "%[1]s + %[2]s == 1", "%[1]s - %[2]s == 1",
		"%[1]s / %[2]s == 1", "%[1]s < %[2]s", "-%[1]s == 1", "%[1]s && %[2]s", "%[1]s ? true : %[2]s",
		"{%[1]s: 1, %[1]s: 2} == %[2]s", "[?%[1]s] == []", "{?%[1]s: %[2]s} == {}",
		"%[1]s.matches(%[2]s)", "matches(%[1]s, %[2]s)", "%[1]s.contains(%[2]s)", "%[1]s.startsWith(%[2]s)",
		"int(%[1]s) == 1", "uint(%[1]s) == 1u", "double(%[1]s) == 1.0", "bool(%[1]s)", "bytes(%[1]s) == b''",
		"duration(%[1]s) == duration('1s')", "timestamp(%[1]s) == timestamp(1)", "string(%[1]s) == ''", "type(%[1]s) == 1",
		"timestamp(req.time).getHours(%[1]s) == 1", "timestamp(req.time).getFullYear(%[1]s + ':00') == 1",
		"%[1]s.charAt(%[2]s) == ''", "charAt(%[1]s, %[2]s) == ''", "%[1]s.substring(%[2]s) == ''",
		"%[1]s.substring(%[2]s, 1) == ''", "%[1]s.substring(0, %[2]s) == ''", "%[1]s.indexOf('a', %[2]s) == 1",
		"%[1]s.lastIndexOf('a', %[2]s) == 1", "%[1]s.split(%[2]s) == []", "%[1]s.join(%[2]s) == ''",
		"%[1]s.replace('a', %[2]s) == ''", "%[1]s.format([%[2]s]) == ''", "'%%d'.format([%[1]s]) == ''", "'%%x'.format([%[1]s]) == ''",
		"'%%e'.format([%[1]s]) == ''", "'%%.2f'.format([%[1]s]) == ''", "'%%b'.format([%[1]s]) == ''",
		"strings.quote(%[1]s) == ''", "base64.decode(%[1]s) == b''", "base64.encode(%[1]s) == ''",
		"sets.contains(%[1]s, %[2]s)", "%[1]s.all(x, x == %[2]s)", "%[1]s.map(x, {'a': 1}[x]) == []", "%[1]s.exists_one(x, x.y)",
		"%[1]s.orValue(%[2]s) == 1", "%[1]s.value() == %[2]s", "%[1]s.optMap(x, x.y) == 1",
		"{'a': 1}[%[1]s] == 1 || req.other == %[2]s", "%[1]s", "[%[1]s, type(%[2]s)]", "{%[1]s: %[2]s}",
	}
	count := 0
	for _, form := range forms {
		for at, first := range values {
			// Each pair of neighbours stands for all pairs.
			for _, second := range []string{first, values[(at+1)%len(values)], "req.text"} {
				text := fmt.Sprintf(form+"%.0[3]d", first, second, 0)
				for _, message := range messagesOf(t, text) {
					count++
					for _, value := range []string{secret, "987654321", "9.87654321e", "98765.25"} {
						if strings.Contains(message, value) {
							t.Errorf("%s\n  %s", text, message)
						}
					}
				}
			}
		}
	}
	if count < 3_000 {
		t.Errorf("only %d of the expressions have a message", count)
	}
}

// What the expression itself spells stays, as Flux says it.
func TestMessagesQuoteTheExpression(t *testing.T) {
	for text, want := range map[string]string{
		"req.other == 1":                               "no such key: other",
		"req['other'] == 1":                            "no such key: other",
		"req.map.known.more == 1":                      "no such key: more",
		"req.list[3] == 1":                             "index out of bounds: 3",
		"'abc'.charAt(9) == 'a'":                       "index out of range: 9",
		"timestamp(req.time).getHours('No/Zone') == 1": "unknown time zone No/Zone",
		// One computed key, and nobody knows which one an error is about.
		"req[req.text] == 1 && req.other == 1":   "no such key",
		"req['hunter2'] == req.map[req.text]":    "no such key",
		"req.list[req.number] == 1":              "index out of bounds",
		"req.text.charAt(req.number) == 'a'":     "index out of range",
		"req.text.matches(req.text + '(')":       "error parsing regexp: missing closing )",
		"timestamp(req.time).getHours(req.text)": "unknown time zone",
		"'%d'.format([req.text]) == ''":          "the reason is not shown, since it may quote a value",
	} {
		compiled, err := expression.Compile(text, nil, expression.Parsed)
		if err != nil {
			t.Fatal(err)
		}
		_, err = compiled.Bool(guarded(), unlimited())
		if err == nil || err.Error() != fmt.Sprintf("failed to evaluate the CEL expression '%s': %s", text, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
