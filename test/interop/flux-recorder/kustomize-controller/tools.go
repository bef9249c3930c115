//go:build tools

// Package tools pins the controller that scenarios are recorded from.
package tools

import _ "github.com/fluxcd/kustomize-controller"
