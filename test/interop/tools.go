//go:build tools

// Package interop pins the clients that the tests of the registry build.
package interop

import _ "github.com/google/go-containerregistry/cmd/crane"
