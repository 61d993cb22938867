module dossier

go 1.26.0

require github.com/google/jsonschema-go v0.4.3
require pgregory.net/rapid v1.3.0 // indirect
require gopkg.in/yaml.v3 v3.0.1
require pgregory.net/rapid v1.3.0
