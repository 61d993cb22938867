package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dossier/reader"
)

// TestMain makes the test binary its own child.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	if raw := os.Getenv(orderVar); raw != "" {
		if err := childMain(raw); err != nil {
			fmt.Fprintln(os.Stderr, "killtest child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestNothingIsLostToKills(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), cycles: 24, seed: 1, out: &out, errs: &errs}
	if ok, err := k.run(t.Context()); err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
}

func TestFaultsAndKillsLoseNothing(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), failures: true, cycles: 24, seed: 1, out: &out, errs: &errs}
	ok, err := k.run(t.Context())
	if err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	t.Log(strings.TrimSpace(out.String()))
}

func TestZombieIsRefused(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), zombie: true, out: &out, errs: &errs}
	if ok, err := k.run(t.Context()); err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
}

func TestASearchRepeatsNothingThatWasRecorded(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), searches: true, out: &out, errs: &errs}
	ok, err := k.run(t.Context())
	if err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	t.Log(strings.TrimSpace(out.String()))
}

func TestAgentsRepeatNothingThatWasRecorded(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), agents: true, out: &out, errs: &errs}
	ok, err := k.run(t.Context())
	if err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	t.Log(strings.TrimSpace(out.String()))
}

func TestQueuedRunsSurviveAKill(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), queue: 300, out: &out, errs: &errs}
	ok, err := k.run(t.Context())
	if err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	t.Log(strings.TrimSpace(out.String()))
}

func TestDeepResearchSurvivesKills(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), research: true, cycles: 4, seed: uint64(time.Now().UnixNano()), out: &out, errs: &errs}
	ok, err := k.run(t.Context())
	if err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	t.Log(strings.TrimSpace(out.String()))
}

func TestClientsLoseNothingToKills(t *testing.T) {
	var out, errs bytes.Buffer
	k := &test{self: os.Args[0], dir: t.TempDir(), serves: true, cycles: 8, seed: uint64(time.Now().UnixNano()), out: &out, errs: &errs}
	ok, err := k.run(t.Context())
	if err != nil || !ok {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	t.Log(strings.TrimSpace(out.String()))
}
