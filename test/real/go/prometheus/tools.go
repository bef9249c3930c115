//go:build tools

// Package prometheus pins a program that the real parts build.
package prometheus

import _ "github.com/prometheus/prometheus/cmd/prometheus"
