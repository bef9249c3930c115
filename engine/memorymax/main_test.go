//go:build !wasip1

package main

import (
	"strings"
	"testing"
)

const header = "\x00asm\x01\x00\x00\x00"

func TestTheMaximumIsWritten(t *testing.T) {
	before, after := "\x01\x02ab", "\x0a\x01c"
	limited, err := withMaximum([]byte(header+before+"\x05\x03\x01\x00\x07"+after), 8192)
	if want := header + before + "\x05\x05\x01\x01\x07\x80\x40" + after; err != nil || string(limited) != want {
		t.Errorf("%q %v", limited, err)
	}
}

func TestAnythingElseIsLeftAlone(t *testing.T) {
	for name, module := range map[string]string{
		"not a module":      "#!/bin/sh",
		"no memory":         header + "\x01\x02ab",
		"a maximum already": header + "\x05\x04\x01\x01\x07\x08",
		"two memories":      header + "\x05\x05\x02\x00\x07\x00\x07",
		"larger already":    header + "\x05\x04\x01\x00\x81\x40",
		"cut off":           header + "\x05\x03\x01",
		"a length too long": header + "\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"an empty section":  header + "\x05\x00" + strings.Repeat("x", 4),
	} {
		if _, err := withMaximum([]byte(module), 8192); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
