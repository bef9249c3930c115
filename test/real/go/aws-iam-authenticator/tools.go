//go:build tools

// Package authenticator pins a program that the real parts build.
package authenticator

import _ "sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator"
