// Command canary-hash writes what the hashes of Canary are made and judged by: `canary-hash types` the fields of the Go types, and
// `canary-hash vectors` random objects with their hashes, the same ones on each run. README.md says where both are kept.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"time"

	"github.com/davecgh/go-spew/spew"
	"k8s.io/apimachinery/pkg/util/rand"
)

// In place of Flagger's own function, which lies in a package with hundreds of modules: the same four settings of the same version of go-spew.
func hashOf(value any) string {
	printer := spew.ConfigState{Indent: " ", SortKeys: true, DisableMethods: true, SpewKeys: true}
	sum := fnv.New32a()
	printer.Fprintf(sum, "%#v", value)
	return rand.SafeEncodeString(fmt.Sprint(sum.Sum32()))
}

func main() {
	// As in Flagger's container, which has no time zone.
	if err := os.Setenv("TZ", ""); err != nil {
		panic(err)
	}
	time.Now().Zone() // reads it
	var lines []string
	switch strings.Join(os.Args[1:], " ") {
	case "types":
		lines = typeLines()
	case "vectors":
		lines = vectorLines()
	default:
		fmt.Fprintln(os.Stderr, "usage: canary-hash types|vectors")
		os.Exit(2)
	}
	fmt.Println(strings.Join(lines, "\n"))
}

func line(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
