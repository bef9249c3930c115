//go:build tools

// Package tools pins the controller that takes over from Sluice and hands back to it.
package tools

import _ "github.com/fluxcd/flagger/cmd/flagger"
