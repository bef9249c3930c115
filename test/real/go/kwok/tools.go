//go:build tools

// Package kwok pins a program that the real parts build. It does not compile with the libraries of the control plane's release
// (v0.8.0 does with none before 1.36), hence the graph of its own; modules of others have the control plane's versions, so that
// what both need is compiled once.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
