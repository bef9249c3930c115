package expression

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Errors of cel-go quote what an expression has read, and their texts get into conditions, events and logs. So only these forms
// pass, in cel-go's words, and operands only where the expression itself spells them.

const (
	// In place of an error of any other form.
	untold = "the reason is not shown, since it may quote a value"

	// A type as cel-go names it.
	typeWord = `(?:bool|bytes|double|duration|dyn|error|int|list|map|null_type|optional_type|string|timestamp|type|uint` +
		`|google\.protobuf\.(?:Any|Duration|Struct|Timestamp|Value))`
	typeName = typeWord + `(?:\(` + typeWord + `(?:, ` + typeWord + `)*\))?`
)

// Errors without operands, or with names of types and functions alone.
var plain = regexp.MustCompile(`^(?:` + strings.Join([]string{
	"division by zero",
	"modulus by zero",
	"(?:unsigned )?integer overflow",
	"(?:duration|timestamp) overflow",
	"NaN values cannot be ordered",
	`optional\.none\(\) dereference`,
	"invalid UTF-8 in bytes, cannot convert to string",
	"time: invalid location name",
	`illegal base64 data at input byte \d+`,
	"operation cancelled: actual cost limit exceeded",
	"type conversion error from '" + typeName + "' to '" + typeName + "'",
	"type conversion not supported for 'type'",
	"unsupported type conversion from 'u?int' to string",
	"unsupported index type '" + typeName + "' in list",
}, "|") + `)$`)

var noSuchOverload = regexp.MustCompile(
	`^no such overload(?:: ([^ ()]+)(?:\((?:` + typeName + `(?:, ` + typeName + `)*)?\)| \d+)?)?$`)

// Errors that quote operands, and what is left of them where an operand is not the expression's own.
var quoting = []struct {
	form    *regexp.Regexp
	without string
}{
	{regexp.MustCompile(`(?s)^no such key: (.*)$`), "no such key"},
	{regexp.MustCompile(`(?s)^index out of bounds: (.*)$`), "index out of bounds"},
	{regexp.MustCompile(`(?s)^index out of range: (.*)$`), "index out of range"},
	{regexp.MustCompile(`(?s)^unsupported index value (.*) in list$`), "unsupported index value in list"},
	{regexp.MustCompile(`^invalid substring range\. start: (.*), end: (.*)$`), "invalid substring range"},
	{regexp.MustCompile(`(?s)^unknown time zone (.*)$`), "unknown time zone"},
}

const noSuchAttribute = "no such attribute(s): "

// errorText answers an error of an evaluation in cel-go's words, without any value.
func errorText(err error, own ownText) string {
	text := err.Error()
	if plain.MatchString(text) || errors.Is(err, errLimit) {
		return text
	}
	if match := noSuchOverload.FindStringSubmatch(text); match != nil {
		if _, isKnown := own.functions[match[1]]; isKnown || match[1] == "" {
			return text
		}
		return "no such overload"
	}
	if names, isAttribute := strings.CutPrefix(text, noSuchAttribute); isAttribute {
		return attributeText(names, own)
	}
	if syntaxError := (*syntax.Error)(nil); errors.As(err, &syntaxError) {
		// The error quotes the pattern or a part of it.
		return "error parsing regexp: " + syntaxError.Code.String()
	}
	for _, each := range quoting {
		if match := each.form.FindStringSubmatch(text); match != nil {
			if own.hasAll(match[1:]) {
				return text
			}
			return each.without
		}
	}
	return untold
}

// The names that a variable may have, each with dots.
func attributeText(names string, own ownText) string {
	for _, name := range strings.Split(names, ", ") {
		for _, part := range strings.Split(name, ".") {
			if !own.words[part] {
				return strings.TrimSuffix(noSuchAttribute, ": ")
			}
		}
	}
	return noSuchAttribute + names
}
