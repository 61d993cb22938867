package layers

// ranks is the picture of ARCHITECTURE.md: a package imports only packages of a
// lower rank. Paths are below the module's; "/*" stands for the packages one
// folder down. A package that is not listed belongs to the nearest listed one
// above it, its port, and is an adapter of it: it imports the port, the port's
// own internal packages and what lies below the port, never a sibling.
var ranks = map[string]int{
	"cmd/*":             13,
	"bench/*":           13,
	"internal/killtest": 13,
	"internal/gotest":   13,

	"internal/cli":          12,
	"internal/server":       11,
	root:                    10,
	"internal/a2a":          9,
	"internal/wire":         9,
	"internal/store":        8,
	"internal/dispatch":     8,
	"internal/config":       7,
	"internal/fleet":        7,
	"internal/access":       7,
	"mode/*":                6,
	"mode":                  5,
	"toolkit":               5,
	"study":                 5,
	"sources":               4,
	"tool/stock":            4,
	"internal/agenttest":    4,
	"internal/clienttest":   0,
	"internal/followtest":   0,
	"agent":                 3,
	"kb":                    3,
	"report":                3,
	"internal/haiku":        3,
	"tool":                  2,
	"extract":               2,
	"prompt":                2,
	"cite":                  2,
	"internal/studytest":    2,
	"internal/webtest":      2,
	"run":                   1,
	"internal/base/datadir": 1,
	"llm":                   1,
	"index":                 1,
	"reader":                1,
	"search":                1,
	"lang/terms":            1,

	"event":           0,
	"lang":            0,
	"egress":          0,
	"llm/jsonrepair":  0,
	"reader/article":  0,
	"internal/base/*": 0,

	"bench/internal/asked": 0, "bench/internal/lab": 0,
}

// root is the module's own package.
const root = "."
