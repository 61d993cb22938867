//go:build !linux

package sitetest

import "testing"

// reserve returns 0: any port that is free.
func reserve(testing.TB) int { return 0 }
