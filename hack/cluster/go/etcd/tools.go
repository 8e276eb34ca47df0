//go:build tools

// Package tools names etcd's main package, so that go.mod and go.sum cover all it needs.
package tools

import _ "go.etcd.io/etcd/server/v3"
