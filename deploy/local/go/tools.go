//go:build tools

// Package tools names the commands that are built from this module, so that go.mod and go.sum pin them.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
)
