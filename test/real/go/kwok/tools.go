//go:build tools

// Package kwok pins a program that the real parts build.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
