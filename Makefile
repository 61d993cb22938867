# Dossier. `make help` lists the targets. Go, make and bash are all they need; some
# tests use clients of others, where there is Node.js and Python.
export CGO_ENABLED := 0
SHELL := /bin/bash

# What a target works on, how long each fuzz target runs, and how long a soak.
PKG ?= ./...
FUZZTIME ?= 60s
SOAK ?= 30m

# The linters are pinned in a module of their own, so that go.mod lists only
# what the product is made of.
TOOL := go tool -modfile=tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help build test fmt fmt-check tidy-check vet chromium clients lint vuln bench bench-nginx soak eval eval-deep screenshots conformance conformance-responses fuzz

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

build: ## build bin/dossier and bin/dossier-llmtest
	go build -trimpath -ldflags '-s -w' -o bin/ ./cmd/...

test: fmt-check vet chromium clients ## check formatting, vet, test everything and look for races; with CI=true a skipped test is a failure
	@go run ./internal/gotest $(PKG)

fmt: ## format the code
	gofmt -w $(GOFILES)

lint: fmt-check tidy-check vet ## what `make test` checks before the tests, and golangci-lint and govulncheck
	$(TOOL) golangci-lint run $(PKG)
	@$(MAKE) --no-print-directory vuln

bench: ## measure the kernel, agents, ingest, the index, HTML extraction and the server beside bare and other ones, web search, deep research and a million instances
	go run ./bench/kernel
	go run ./bench/agents
	go run ./bench/ingest
	go run ./bench/retrieval
	go run ./bench/extract
	go run ./bench/web
	go run ./bench/deep
	go run ./bench/fleet
	go test -run '^$$' -bench Page -benchtime 1x ./internal/server/page
	go run ./bench/serve

bench-nginx: ## follow a run through nginx, which has to be installed, for two minutes of silence
	go run ./bench/serve -nginx

soak: ## have clients use the server for SOAK (30m): memory drift and goroutines left over
	go run ./bench/soak -for $(SOAK)

eval: ## measure quality over the evaluation sets and write bench/results
	go run ./bench/eval

eval-deep: ## measure deep research without a model beside deep_search and one search, and write bench/results/eval-deep.txt
	go run ./bench/eval -set qa_2wiki_en,qa_hotpot_en,qa_musique_en,research_scholarqa_multi_en -out bench/results/eval-deep.txt

screenshots: chromium clients ## make pictures of every screen of the page in bin/screenshots
	@mkdir -p bin/screenshots
	DOSSIER_SCREENSHOTS=$(CURDIR)/bin/screenshots go test -count=1 -timeout 10m ./internal/server/page -run 'TestMainPath|Looks|TestAgents|TestSettings'
	cp bin/screenshots/readme.png docs/page.png

conformance: clients conformance-responses ## run the suites of others against the server and write bench/results
	go run ./bench/conformance

fuzz: ## fuzz every target for FUZZTIME (60s)
	@go run ./internal/gotest -fuzz $(FUZZTIME) $(PKG)

# The steps below have no line in the help: the targets above call them.

# Recorded inputs under testdata are not ours to format.
GOFILES = $(shell find . -name '*.go' -not -path '*/testdata/*' -not -path './.cache/*' -not -path './clients/*')

fmt-check:
	@unformatted=$$(gofmt -l $(GOFILES)) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt does it):"; echo "$$unformatted"; exit 1; fi

tidy-check:
	@go mod tidy -diff || { echo "go.mod or go.sum is not tidy: run go mod tidy"; exit 1; }

vet:
	go vet $(PKG)

conformance-responses: clients
	go run ./bench/openresponses

# Some tests drive a real browser. Where there is none and root may install one,
# it is installed; else those tests say that they tested nothing.
chromium:
	@if command -v chromium chromium-browser google-chrome google-chrome-stable > /dev/null; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then \
		echo "chromium: not installed; the tests that need a browser do nothing"; exit 0; fi; \
	echo "chromium: not installed; installing it with apt-get for the tests that need a browser"; \
	export DEBIAN_FRONTEND=noninteractive; \
	if timeout 300 bash -c 'install() { apt-get install -qq -y --no-install-recommends chromium; }; install || { apt-get update -qq && install; }' > /dev/null 2>&1; \
	then echo "chromium: installed"; else echo "chromium: could not be installed; the tests that need a browser do nothing"; fi

# Some tests talk to the server with the clients that others have written for its
# protocols: they are installed into the folder clients, where there is Node.js and
# Python, when their lists have changed.
clients: clients/node_modules/.list clients/.venv/.list

clients/node_modules/.list: clients/package-lock.json
	@if ! command -v npm > /dev/null; then echo "clients: npm is not installed; the tests with clients in JavaScript do nothing"; exit 0; fi; \
	echo "clients: installing those in JavaScript"; \
	if (cd clients && timeout 300 npm ci --ignore-scripts --no-audit --no-fund --loglevel=error > /dev/null); then touch $@; else echo "clients: those in JavaScript could not be installed"; fi

clients/.venv/.list: clients/requirements.txt
	@if ! command -v python3 > /dev/null; then echo "clients: python3 is not installed; the tests with clients in Python do nothing"; exit 0; fi; \
	echo "clients: installing those in Python"; \
	if python3 -m venv clients/.venv && timeout 300 clients/.venv/bin/pip install -q --disable-pip-version-check -r clients/requirements.txt; then touch $@; else echo "clients: those in Python could not be installed"; rm -rf clients/.venv; fi

# govulncheck asks a database on the Internet. Where that cannot be reached the
# check says so and does not fail: it has found nothing wrong.
vuln:
	@said=$$($(TOOL) govulncheck $(PKG) 2>&1); code=$$?; \
	if [ $$code -ne 0 ] && grep -q 'fetching vulnerabilities' <<< "$$said"; then \
		echo "govulncheck: its database cannot be reached from here; known vulnerabilities were not looked up"; \
	else echo "$$said"; exit $$code; fi
