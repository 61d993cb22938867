module dossier

go 1.26.0

require (
	github.com/google/jsonschema-go v0.4.3
	go.yaml.in/yaml/v3 v3.0.4
	pgregory.net/rapid v1.3.0
)
