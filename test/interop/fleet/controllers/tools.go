//go:build tools

// Package tools pins the controllers that the typical repository moves from and back to.
package tools

import (
	_ "github.com/fluxcd/helm-controller"
	_ "github.com/fluxcd/image-automation-controller"
	_ "github.com/fluxcd/image-reflector-controller"
	_ "github.com/fluxcd/kustomize-controller"
	_ "github.com/fluxcd/notification-controller"
	_ "github.com/fluxcd/source-controller"
)
