package trace

// The names are those of OpenTelemetry's semantic conventions in this version,
// the last in which those for generative AI (which have the status development)
// and all others have one version. A receiver is told the schema.
const (
	Convention = "1.41.0"
	Schema     = "https://opentelemetry.io/schemas/" + Convention
)

// What a span can be of, as gen_ai.operation.name says; the name of the span is
// the operation and whom it is of. A run is a workflow: the mode is its name.
const (
	opRun   = "invoke_workflow"
	opAgent = "invoke_agent"
	opTool  = "execute_tool"
	opChat  = "chat"
	opEmbed = "embeddings"
	// A step is of no kind that the convention knows, and has no operation.
	nameStep = "step"
)

// Attributes of the convention.
const (
	keyOperation    = "gen_ai.operation.name"
	keyProvider     = "gen_ai.provider.name"
	keyConversation = "gen_ai.conversation.id"
	keyWorkflow     = "gen_ai.workflow.name"
	keyAgentID      = "gen_ai.agent.id"
	keyAgentName    = "gen_ai.agent.name"
	keyToolName     = "gen_ai.tool.name"
	keyToolCall     = "gen_ai.tool.call.id"
	keyToolType     = "gen_ai.tool.type"
	keyModel        = "gen_ai.request.model"
	keyMaxTokens    = "gen_ai.request.max_tokens"
	keyTemperature  = "gen_ai.request.temperature"
	keyOutputType   = "gen_ai.output.type"
	keyAnswerID     = "gen_ai.response.id"
	keyAnswerModel  = "gen_ai.response.model"
	keyFinish       = "gen_ai.response.finish_reasons"
	keyInput        = "gen_ai.usage.input_tokens"
	keyOutput       = "gen_ai.usage.output_tokens"
	keyCached       = "gen_ai.usage.cache_read.input_tokens"

	KeyError   = "error.type"
	keyServer  = "server.address"
	keyPort    = "server.port"
	keyMethod  = "http.request.method"
	keyRoute   = "http.route"
	keyStatus  = "http.response.status_code"
	keyPath    = "url.path"
	keyScheme  = "url.scheme"
	keyVersion = "network.protocol.version"

	// KeyService and those below are of the resource: what all spans are of.
	KeyService        = "service.name"
	KeyServiceVersion = "service.version"
	KeyInstance       = "service.instance.id"
)

// Attributes of our own, for what the convention has no word for.
const (
	keyRun       = "dossier.run.id"
	keyRunStatus = "dossier.run.status"
	keyStep      = "dossier.step"
	// eventRetry is the event of a call to a model that failed and is repeated.
	eventRetry = "dossier.retry"
)

// Values of gen_ai.tool.type: a tool of this program, and one that calls a server.
const (
	toolFunction  = "function"
	toolExtension = "extension"
)

// Where an agent works by rules, no provider has a part in it.
const providerNone = "dossier"

// providers are the names of the convention for those that it knows under another
// one than we do.
var providers = map[string]string{"openai-compatible": "openai", "": providerNone}

func provider(name string) string {
	if known, ok := providers[name]; ok {
		return known
	}
	return name
}
