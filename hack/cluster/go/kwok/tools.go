//go:build tools

// Package tools names KWOK's main package, so that go.mod and go.sum cover all it needs.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
