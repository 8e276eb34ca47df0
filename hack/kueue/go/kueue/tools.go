//go:build tools

// Package tools names Kueue's main packages, so that go.mod and go.sum cover all they need.
package tools

import (
	_ "sigs.k8s.io/kueue/cmd/kueue"
	_ "sigs.k8s.io/kueue/cmd/kueuectl"
)
