# Dossier. `make help` lists the targets.
export CGO_ENABLED := 0
SHELL := /bin/bash

.PHONY: help build test
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

build: ## build bin/dossier and bin/dossier-llmtest
	go build -trimpath -o bin/ ./cmd/...

test: ## vet and test everything; with CI=true a skipped test is a failure
	go vet ./...
	go test ./...
