//go:build tools

// Package controlplane pins programs that share most of their packages in one graph of modules: what they share is compiled once.
// Kubernetes replaces its own modules by folders, so no `go install` builds it: the replace directives here name the published
// modules instead, and aws-iam-authenticator gets them too.
package controlplane

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator"
)
