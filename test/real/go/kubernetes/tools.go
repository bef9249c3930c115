//go:build tools

// Package kubernetes pins the control plane's programs. Kubernetes replaces its own modules by folders, so no `go install`
// builds it: the replace directives here name the published modules instead.
package kubernetes

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)
