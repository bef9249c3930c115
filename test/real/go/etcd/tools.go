//go:build tools

// Package etcd pins a program that the real parts build.
package etcd

import _ "go.etcd.io/etcd/server/v3"
