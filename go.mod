module dossier

go 1.26.0

require github.com/google/jsonschema-go v0.4.3

require (
	github.com/alecthomas/kong v1.16.1
	pgregory.net/rapid v1.3.0
)

require gopkg.in/yaml.v3 v3.0.1

require (
	go.yaml.in/yaml/v3 v3.0.4
	golang.org/x/term v0.45.0
)

require golang.org/x/sys v0.47.0 // indirect
require (
	github.com/google/jsonschema-go v0.4.3
	go.yaml.in/yaml/v3 v3.0.4
	pgregory.net/rapid v1.3.0
)
