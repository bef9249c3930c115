//go:build tools

// Package registry pins a program that the real parts build.
package registry

import _ "github.com/distribution/distribution/v3/cmd/registry"
