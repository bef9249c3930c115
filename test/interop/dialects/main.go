// Dialects says what Go, and Flux's own libraries, make of ranges of versions, regular expressions, ignore patterns and templates:
// a JSON array of three texts a line on its standard input, a verdict a line on its standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"
	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/version"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		var asked [3]string
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(answers, verdict(asked[0], asked[1], asked[2]))
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	if err := answers.Flush(); err != nil {
		log.Fatal(err)
	}
}

func verdict(dialect, pattern, text string) string {
	switch dialect {
	case "range":
		return ofRange(pattern, text)
	case "expression":
		return ofExpression(pattern, text)
	case "ignore":
		return ofIgnore(pattern, text)
	case "template":
		return ofTemplate(pattern, text)
	}
	log.Fatalf("no such dialect: %q", dialect)
	return ""
}

// As source-controller judges a tag.
func ofRange(pattern, tag string) string {
	constraint, err := semver.NewConstraint(pattern)
	if err != nil {
		return "refused"
	}
	parsed, err := version.ParseVersion(tag)
	if err != nil {
		return "no version"
	}
	return inOrOut(constraint.Check(parsed))
}

func ofExpression(pattern, tag string) string {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return "refused"
	}
	return inOrOut(expression.MatchString(tag))
}

// The text is a path; with a slash at its end it is a folder.
func ofIgnore(patterns, path string) string {
	names := strings.Split(strings.TrimSuffix(path, "/"), "/")
	matcher := sourceignore.NewMatcher(sourceignore.ReadPatterns(strings.NewReader(patterns), nil))
	return inOrOut(matcher.Match(names, strings.HasSuffix(path, "/")))
}

// As kustomize-controller substitutes; the text holds the variables in JSON.
func ofTemplate(template, variables string) (said string) {
	var values map[string]string
	if err := json.Unmarshal([]byte(variables), &values); err != nil {
		log.Fatal(err)
	}
	defer func() {
		if recover() != nil {
			said = "refused: broken off"
		}
	}()
	output, err := envsubst.Eval(template, func(name string) (string, bool) {
		value, exists := values[name]
		return value, exists
	})
	if err != nil {
		return "refused: " + err.Error()
	}
	if !utf8.ValidString(output) {
		return "refused: no UTF-8"
	}
	quoted, err := json.Marshal(output)
	if err != nil {
		log.Fatal(err)
	}
	// Go escapes what HTML escapes.
	return "text: " + strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(quoted))
}

func inOrOut(in bool) string {
	if in {
		return "in"
	}
	return "out"
}
