//go:build tools

// Package versitygw pins a program that the real parts build.
package versitygw

import _ "github.com/versity/versitygw/cmd/versitygw"
