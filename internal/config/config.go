package config

import "time"

// Config is every setting. The zero value has no defaults: use Load.
type Config struct {
	Models     Models     `key:"models" help:"Language models by role; a role inherits from default what it does not set."`
	Chat       Chat       `key:"chat" help:"Conversation without sources."`
	Console    Console    `key:"console" help:"The console agent of dossier console."`
	Structured Structured `key:"structured" help:"Replies that have to follow a schema."`
	Limits     Limits     `key:"limits" help:"Budget of one run; 0 means no limit. At a limit the run ends with what it has."`
	Governor   Governor   `key:"governor" help:"Calls to one model endpoint."`
	Log        Log        `key:"log" help:"The log file and its level."`
	Traces     Traces     `key:"traces" help:"Traces for a collector of OpenTelemetry; its own variables OTEL_* count as well."`
	Server     Server     `key:"server" help:"The HTTP server of dossier serve."`

	DataDir string `key:"data_dir" kind:"path" flag:"data-dir" env:"DOSSIER_DATA" default:"${XDG_DATA_HOME:-~/.local/share}/dossier" help:"Directory of the database and of stored pages."`
	Lang    string `key:"lang" flag:"lang" enum:"auto,ru,en,zh" default:"auto" help:"Language of messages; auto follows the question."`
	Workers int    `key:"workers" flag:"workers" default:"256" min:"1" max:"100000" help:"Runs worked on at the same time; the others wait in line."`

	Execution    Execution    `key:"execution" help:"Limits of an agent's loop."`
	Search       Search       `key:"search" help:"Web search."`
	WebSearch    Depth        `key:"web_search" default:"max_iterations=2,scrape_top_n=4,time=30s" alias:"max_iterations=speed_max_iterations,max_iterations=web_search_speed_iterations" env:"queries=WEB_SEARCH_QUERIES,max_results=WEB_SEARCH_MAX_RESULTS,rerank_top_k=WEB_SEARCH_RERANK_TOP_K,scrape_top_n=WEB_SEARCH_SCRAPE_TOP_N" help:"How much the mode web_search does for a question. What it does not set itself is as deep_search sets it, rounds and time aside."`
	DeepSearch   Depth        `key:"deep_search" default:"max_iterations=6,scrape_top_n=8,time=1m" alias:"max_iterations=balanced_max_iterations,max_iterations=web_search_balanced_iterations,scrape_top_n=web_search_deep_scrape_top_n" env:"queries=DEEP_SEARCH_QUERIES,max_results=DEEP_SEARCH_MAX_RESULTS,rerank_top_k=DEEP_SEARCH_RERANK_TOP_K,scrape_top_n=DEEP_SEARCH_SCRAPE_TOP_N" help:"How much the mode deep_search does; the others too, rounds and time aside, where they set nothing themselves."`
	Quality      Depth        `key:"quality" default:"max_iterations=25,scrape_top_n=8,time=10m" alias:"max_iterations=web_search_quality_iterations" env:"max_iterations=QUALITY_MAX_ITERATIONS,queries=QUALITY_QUERIES,max_results=QUALITY_MAX_RESULTS,rerank_top_k=QUALITY_RERANK_TOP_K,scrape_top_n=QUALITY_SCRAPE_TOP_N" help:"How much the mode quality does. What it does not set itself is as deep_search sets it, rounds and time aside."`
	DeepResearch DeepResearch `key:"deep_research" help:"How the mode deep_research works."`
	KBQA         KBQA         `key:"kbqa" help:"The agent kb_agent, which answers from a collection of documents."`
	KB           KB           `key:"kb" help:"Collections of the user's documents."`
	Prompts      Prompts      `key:"prompts" help:"Prompts that replace the built-in ones; the text wins over the file."`
	MCP          Tree         `key:"mcp" help:"MCP servers, as mcpServers: {name: {url, headers} or {command, args, env}}."`
	Tools        Tree         `key:"tools" help:"Settings of tools by name: {tool: {any: value}}; with base_class it is a second name of that tool."`
	A2A          Tree         `key:"a2a" help:"Agents of other servers, as agents: {name: {url, headers}}."`
	WebhookTree  Tree         `key:"webhooks" trusted:"true" help:"Addresses that are told when runs end, by name: {name: {url, secret, events}}."`
	Agents       Tree         `key:"agents" help:"Agent definitions by name: {agent: {base_class, llm, execution, prompts, search, mcp, tools, rules, tool_search, agents, capabilities, description}}."`

	// A function, because fmt follows a pointer in an unexported field, and
	// the state holds the environment.
	st func() *state
}

// Chat is the chat mode.
type Chat struct {
	HistoryLimit int `key:"history_limit" env:"CHAT_HISTORY_LIMIT" default:"20" min:"0" max:"1000" help:"How many earlier messages the model sees."`
}

// Console is the console agent.
type Console struct {
	ExitCommands   []string      `key:"exit_commands" alias:"exit_commands" default:"/exit,/quit,/q,exit,quit,q" help:"Lines that end the session; compared with a whole line, in any case."`
	HelpCommands   []string      `key:"help_commands" alias:"help_commands" default:"/help,help,?" help:"Lines that show the help."`
	HistoryLimit   int           `key:"context_hist_limit" alias:"context_hist_limit" default:"10" min:"1" max:"1000" help:"Messages of the conversation that the model sees, the request included."`
	MessageMaxLen  int           `key:"message_maxlen" default:"4000" min:"100" max:"1000000" help:"Characters of one message that the model sees; of longer ones the middle is left out."`
	QuestionMaxLen int           `key:"param_question_maxlen" alias:"param_question_maxlen" default:"30" min:"1" max:"100000" help:"Longest question to the documents, in characters."`
	ThemeMaxLen    int           `key:"param_theme_maxlen" alias:"param_theme_maxlen" default:"20" min:"1" max:"100000" help:"Longest theme of a haiku, in characters."`
	TopK           int           `key:"param_rag_top_k" alias:"param_rag_top_k" default:"2" min:"1" max:"50" help:"Passages that a question is answered from."`
	Timeout        time.Duration `key:"timeout" default:"30s" min:"100ms" max:"1h" help:"How long one call to the model may take; it is repeated as often as governor.retries says."`
	ServiceTimeout time.Duration `key:"service_timeout" default:"30s" min:"100ms" max:"1h" help:"How long a service may take."`
	ExitOnLLMError bool          `key:"exit_on_llm_error" default:"true" help:"End the program when the model fails; false ends the turn."`
	RAGURL         URL           `key:"rag_url" help:"Address of a service with /health and /search; empty asks the collection in use."`
	ServiceKey     Secret        `key:"service_key" example:"DOSSIER_SERVICE_TOKEN" help:"Token for the services at these addresses, sent as a bearer token."`
	HaikuURL       URL           `key:"haiku_url" help:"Address of a service with /health and /generate_haiku; empty writes haiku itself."`
}

// Structured is about replies that have to follow a schema.
type Structured struct {
	MaxRetries int `key:"max_retries" alias:"max_structured_output_retries" default:"3" min:"0" max:"20" help:"How often a reply that breaks its schema is asked for again."`
}

// Limits is the budget of one run; 0 is no limit.
type Limits struct {
	Tokens   int64         `key:"tokens" flag:"max-tokens" default:"0" min:"0" help:"Tokens in and out."`
	Cost     float64       `key:"cost" flag:"max-cost" default:"0" min:"0" help:"Money, in the currency of the models' prices."`
	Time     time.Duration `key:"time" flag:"max-time" default:"0s" min:"0s" help:"Working time, without the time spent waiting for an answer."`
	Searches int           `key:"searches" flag:"max-searches" default:"0" min:"0" help:"Search queries."`
	Pages    int           `key:"pages" flag:"max-pages" default:"0" min:"0" help:"Pages read."`
}

// Governor bounds the calls to one endpoint.
type Governor struct {
	MaxConcurrency   int           `key:"max_concurrency" default:"64" min:"1" max:"10000" help:"Most calls at once; the working number is found below it."`
	FirstByteTimeout time.Duration `key:"first_byte_timeout" default:"30s" min:"100ms" max:"1h" help:"How long to wait for the first byte of a reply."`
	IdleTimeout      time.Duration `key:"idle_timeout" default:"60s" min:"100ms" max:"1h" help:"How long a started reply may bring nothing new; signs of life don't count."`
	CallTimeout      time.Duration `key:"call_timeout" default:"10m" min:"1s" max:"24h" help:"How long one call may take as a whole, with all its repetitions and waits for a rate limit."`
	Retries          int           `key:"retries" default:"3" min:"0" max:"20" help:"How often a failed call is repeated."`
}

// Log is where and how much is logged.
type Log struct {
	Level   string `key:"level" flag:"log-level" enum:"debug,info,warn,error,critical" default:"info" help:"Least severe level that is written."`
	File    string `key:"file" flag:"log-file" kind:"path" help:"Log file; empty is logs/dossier.log in data_dir."`
	Format  string `key:"format" enum:"text,json" default:"text" help:"Form of the lines: text for people, json for programs, an object each."`
	Verbose bool   `key:"verbose" flag:"verbose" default:"false" help:"Also write the payloads of model calls, at level debug."`
}

// Traces is where spans are sent; see Config.Tracing.
type Traces struct {
	Endpoint URL    `key:"endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"Address of a collector that takes OTLP over HTTP, as http://127.0.0.1:4318; empty sends nothing."`
	Headers  Secret `key:"headers" env:"OTEL_EXPORTER_OTLP_TRACES_HEADERS,OTEL_EXPORTER_OTLP_HEADERS" help:"Headers that go along, as name=value,name=value."`
	Service  string `key:"service" trusted:"true" env:"OTEL_SERVICE_NAME" default:"dossier" help:"Name of the service that the spans are of."`
}

// Server is the HTTP server.
type Server struct {
	Host         string   `key:"host" flag:"host" trusted:"true" help:"Address to listen on; empty is $HOST, else 127.0.0.1. Beyond this machine it takes a token."`
	Port         *int     `key:"port" flag:"port" trusted:"true" min:"0" max:"65535" help:"Port to listen on, 0 for any that is free; without one $PORT, else 8010."`
	Token        Secret   `key:"token" example:"DOSSIER_SERVER_TOKEN" help:"Token of the operator. With one, every request needs a token, this or one of dossier tokens."`
	RequireToken bool     `key:"require_token" trusted:"true" default:"false" help:"Ask for a token on this machine too."`
	Origins      []string `key:"origins" trusted:"true" help:"Origins of other servers' pages that may call this one, as https://app.example.com."`
	Hosts        []string `key:"hosts" trusted:"true" help:"Names by which the server is reached, beside those of this machine."`
	Folders      []string `key:"folders" trusted:"true" help:"Folders, as absolute paths, below which requests may name folders and files to ask about."`
	Collections  []string `key:"collections" trusted:"true" help:"Collections that every user may ask, beside their own."`
	Rate         float64  `key:"rate" trusted:"true" default:"20" min:"0" max:"1000000" help:"Requests that one token may make in a second, on average; 0 is no limit."`
	Streams      int      `key:"streams" trusted:"true" default:"200" min:"0" max:"1000000" help:"Streams that one token may have open at once; 0 is no limit."`
	MaxBodyMB    int      `key:"max_body_mb" trusted:"true" default:"16" min:"1" max:"1024" help:"Largest body of a request, in MiB."`
}

// Execution bounds an agent's loop.
type Execution struct {
	MaxIterations      int    `key:"max_iterations" alias:"execution_max_steps" default:"10" min:"1" max:"1000" help:"Rounds before the agent has to answer."`
	MaxClarifications  int    `key:"max_clarifications" default:"3" min:"0" max:"100" help:"Questions that the agent may ask the user."`
	MCPContextLimit    int    `key:"mcp_context_limit" default:"15000" min:"1" help:"Characters of an MCP tool's result that the model sees."`
	MaxDepth           int    `key:"max_depth" default:"3" min:"1" max:"20" help:"How deep agents may call agents."`
	StreamingGenerator string `key:"streaming_generator" enum:"openai,open_webui" default:"openai" help:"Form of the OpenAI stream."`
	LogsDir            string `key:"logs_dir" kind:"path" within:"data_dir" default:"logs" help:"Directory of agents' JSON logs, by itself one of data_dir; empty writes none."`
	ReportsDir         string `key:"reports_dir" kind:"path" within:"data_dir" default:"reports" help:"Directory of reports, by itself one of data_dir; empty writes none."`
}

// Search is web search.
type Search struct {
	Engines         []string      `key:"engines" help:"Engines to choose from, the preferred first; empty is all that are set up."`
	BlockedDomains  []string      `key:"blocked_domains" help:"Domains whose pages are never used, with their subdomains."`
	BlockedKeywords []string      `key:"blocked_keywords" help:"Words; results that have one are not used."`
	Timeout         time.Duration `key:"timeout" default:"15s" min:"100ms" max:"10m" help:"How long to wait for an engine."`
	PageTimeout     time.Duration `key:"page_timeout" default:"20s" min:"100ms" max:"10m" help:"How long to wait for a page."`
	PageDelay       time.Duration `key:"page_delay" default:"200ms" min:"0s" max:"1m" help:"Least time between two pages of one site."`
	PagesPerSite    int           `key:"pages_per_site" default:"2" min:"1" max:"100" help:"Pages of one site that are read at once."`
	CacheTTL        time.Duration `key:"cache_ttl" default:"1h" min:"0s" max:"720h" help:"How long results and pages are kept and not asked for again; 0 keeps none."`
	CacheMB         int           `key:"cache_mb" default:"256" min:"1" max:"65536" help:"Most room for what is kept, in MiB, for results and pages each."`
	AllowNetworks   []string      `key:"allow_networks" trusted:"true" help:"Private networks whose pages may be read, as 10.1.0.0/16."`
	AllowPorts      []string      `key:"allow_ports" trusted:"true" help:"Ports of pages beside 80 and 443."`
	Browser         bool          `key:"browser" default:"true" help:"Show pages that are made by scripts in an installed Chromium."`

	Translate bool `key:"translate" default:"true" help:"Where no model plans, ask engines in English too what was asked in Russian or Chinese: one more query, by dictionaries."`

	Rerank       string `key:"rerank" enum:"auto,endpoint,embeddings,model,lexical" default:"auto" help:"What ranks results: auto takes the first of endpoint, embeddings and model that is set up, else lexical."`
	RerankURL    URL    `key:"rerank_url" help:"Address of a rerank endpoint in the format of Jina, Cohere or TEI."`
	RerankAPIKey Secret `key:"rerank_api_key" env:"JINA_API_KEY,COHERE_API_KEY" example:"JINA_API_KEY" help:"Key of the rerank endpoint."`
	RerankModel  string `key:"rerank_model" help:"Model of the rerank endpoint."`

	TavilyAPIKey     Secret `key:"tavily_api_key" env:"TAVILY_API_KEY" example:"TAVILY_API_KEY" help:"Key of Tavily."`
	TavilyAPIBaseURL URL    `key:"tavily_api_base_url" default:"https://api.tavily.com" help:"Address of Tavily."`

	SearXNG    SearchEngine `key:"searxng" env:"base_url=SEARXNG_URL" default:"at_once=16" help:"A SearXNG instance that serves JSON."`
	Brave      SearchEngine `key:"brave" env:"api_key=BRAVE_API_KEY" default:"every=1s" help:"Brave Search."`
	Perplexity SearchEngine `key:"perplexity" env:"api_key=PERPLEXITY_API_KEY" help:"Perplexity's search, which lists pages and writes no answer."`
	Bocha      SearchEngine `key:"bocha" env:"api_key=BOCHA_API_KEY" help:"Bocha, a Chinese web search."`
	DuckDuckGo SearchEngine `key:"duckduckgo" default:"every=1s" help:"DuckDuckGo's page for plain browsers; needs no key."`
	Wikipedia  SearchEngine `key:"wikipedia" default:"every=100ms" help:"Wikipedia in the language of the question; needs no key. {lang} in the address is the language."`
	ArXiv      SearchEngine `key:"arxiv" default:"every=3s" help:"Papers of arXiv; needs no key."`
	HFPapers   SearchEngine `key:"hf_papers" default:"every=500ms" help:"Papers of Hugging Face; needs no key."`
	HFBlog     SearchEngine `key:"hf_blog" default:"every=500ms" help:"Blog of Hugging Face; needs no key."`
	GitHub     SearchEngine `key:"github" env:"api_key=GITHUB_TOKEN" default:"every=2s" help:"Repositories and issues of GitHub; a key allows more searches."`
	HackerNews SearchEngine `key:"hackernews" default:"every=200ms" help:"Stories of Hacker News; needs no key."`
	OpenAlex   SearchEngine `key:"openalex" default:"every=200ms" help:"Papers of OpenAlex; needs no key."`
	Zyte       SearchEngine `key:"zyte" env:"api_key=ZYTE_API_KEY" help:"Articles of the sites in zyte_sites."`
	ZyteSites  []string     `key:"zyte_sites" help:"Addresses of blogs and news sites whose articles Zyte lists."`
	MCPServers []string     `key:"mcp_servers" help:"Servers of the section mcp whose search tool is an engine of its own."`

	MaxSearches  int `key:"max_searches" alias:"execution_max_searches" default:"4" min:"0" max:"1000" help:"Searches of one agent before the tool is taken away."`
	MaxResults   int `key:"max_results" default:"10" min:"1" max:"100" help:"Results of one search."`
	ContentLimit int `key:"content_limit" default:"3500" min:"0" help:"Characters of a page that the model sees."`
}

// SearchEngine is how an engine is reached.
type SearchEngine struct {
	BaseURL URL           `key:"base_url" help:"Address of the service; empty is its own."`
	APIKey  Secret        `key:"api_key" help:"Key of the service."`
	Every   time.Duration `key:"every" default:"0s" min:"0s" max:"1h" help:"Least time between two searches."`
	AtOnce  int           `key:"at_once" default:"4" min:"1" max:"1000" help:"Searches under way at once."`
}

// Depth is how much a searching mode does for a question.
type Depth struct {
	MaxIterations int           `key:"max_iterations" min:"1" max:"100" help:"Rounds of searching, at most."`
	Queries       int           `key:"queries" default:"3" min:"1" max:"20" help:"Search queries of a round on the web, follow-ups included; of documents, for each part of a question."`
	MaxResults    int           `key:"max_results" default:"8" min:"1" max:"100" help:"Results taken of one query."`
	RerankTopK    int           `key:"rerank_top_k" default:"6" min:"1" max:"100" help:"Results, or passages, kept of a round for each part of a question."`
	ScrapeTopN    int           `key:"scrape_top_n" min:"1" max:"100" help:"Pages, or documents, that are read."`
	Time          time.Duration `key:"time" min:"0s" max:"24h" help:"How long models are waited for, all calls of a run together; what is not decided by then is decided by rules. 0 is no bound."`
	ContextTokens int           `key:"context_tokens" default:"12000" min:"500" max:"1000000" help:"Tokens of passages from which a model writes the answer."`
}

// DeepResearch is the mode deep_research. Queries, results, passages and tokens
// of one search are those of deep_search.
type DeepResearch struct {
	Engine            string        `key:"engine" env:"DEEP_RESEARCH_ENGINE" default:"supervisor" enum:"supervisor,loop" help:"Who works: supervisor is a team of researchers, loop goes round until the evidence is enough."`
	MaxIterations     int           `key:"max_iterations" env:"DEEP_RESEARCH_MAX_ITERATIONS" default:"5" min:"1" max:"10" help:"Rounds of the engine loop, at most; then the report is made of what there is."`
	ClarifyingEnabled bool          `key:"enable_clarifying_questions" env:"DEEP_RESEARCH_ENABLE_CLARIFYING_QUESTIONS" default:"true" help:"Ask the user what is meant, where that is not clear and somebody can be asked."`
	ClarifyWait       time.Duration `key:"clarify_wait" env:"DEEP_RESEARCH_CLARIFY_WAIT" default:"0s" min:"0s" max:"24h" help:"How long an answer is waited for before the work goes on with assumptions, which the report names; 0 waits for ever."`
	Plan              string        `key:"plan" env:"DEEP_RESEARCH_PLAN" default:"auto" enum:"auto,show,edit" help:"Whether the plan is shown before anything is spent on it (show), or can be changed too (edit)."`
	Decider           string        `key:"decider" env:"DEEP_RESEARCH_DECIDER" enum:"react,sgr,tool_calling,sgr_tool_calling,iron" default:"react" help:"How the models of the team are asked for their next step."`

	NumAgents               int           `key:"num_agents" env:"DEEP_RESEARCH_NUM_AGENTS" default:"4" help:"Researchers of the team: from 1 to 5, and what lies beyond is taken as that."`
	AgentMaxSteps           int           `key:"agent_max_steps" env:"DEEP_RESEARCH_AGENT_MAX_STEPS" default:"5" help:"Steps of a researcher for one task; the last is for its note."`
	MaxSupervisorCalls      int           `key:"max_supervisor_calls" env:"DEEP_RESEARCH_MAX_SUPERVISOR_CALLS" default:"6" help:"How often the supervisor of the team is called in a run; afterwards researchers finish what they have to do."`
	SupervisorMaxIterations int           `key:"supervisor_max_iterations" env:"DEEP_RESEARCH_SUPERVISOR_MAX_ITERATIONS" default:"10" help:"Steps of the supervisor in one call."`
	DefaultMaxIterations    int           `key:"default_max_iterations" env:"DEEP_RESEARCH_DEFAULT_MAX_ITERATIONS" default:"15" help:"Rounds of the agents' cycle in a run of the team: tasks that researchers begin, all together."`
	RunDeepSearchFirst      bool          `key:"run_deep_search_first" env:"DEEP_RESEARCH_RUN_DEEP_SEARCH_FIRST" default:"true" help:"Have the mode deep_search work on the question before the team does."`
	KeepSessions            time.Duration `key:"keep_sessions" env:"DEEP_RESEARCH_KEEP_SESSIONS" default:"720h" min:"0s" max:"87600h" help:"How long the folder of a run in agent_sessions is kept after its last change; 0 is for ever."`

	SectionPages int           `key:"section_pages" env:"DEEP_RESEARCH_SECTION_PAGES" default:"4" min:"1" max:"50" help:"Pages, or documents, that the engine loop reads for a section in a round."`
	Time         time.Duration `key:"time" env:"DEEP_RESEARCH_TIME" default:"30m" min:"0s" max:"24h" help:"How long models are waited for, all calls of a run together; what is not decided by then is decided by rules. 0 is no bound."`
}

// KBQA is about the agent that answers from a collection.
type KBQA struct {
	MaxSteps       int     `key:"agent_max_steps" alias:"agent_max_steps" default:"15" min:"1" max:"1000" help:"Steps that a request may ask for, at most; more are taken as that."`
	DefaultSteps   int     `key:"agent_default_steps" alias:"agent_default_steps" default:"8" min:"1" max:"1000" help:"Steps of a request that does not say how many: what the model decides, after the search that each begins with. Beyond them the question is answered in one go."`
	TokenBudget    int     `key:"agent_token_budget" alias:"agent_token_budget" default:"2000" min:"100" max:"200000" help:"Tokens of one reply of the model, at most."`
	ToolTimeout    float64 `key:"agent_tool_timeout" alias:"agent_tool_timeout" default:"5.0" min:"0.1" max:"600" help:"Seconds that one call of a tool may take."`
	Threshold      float64 `key:"coverage_threshold" alias:"coverage_threshold" default:"0.8" min:"0" max:"1" help:"Share of the question's parts for which something has to be found; with less it is searched again, wider."`
	MaxRefinements int     `key:"max_refinements" alias:"max_refinements" default:"1" min:"0" max:"10" help:"How often it is searched again, wider."`
	Verify         bool    `key:"enable_verify_step" alias:"enable_verify_step" default:"true" help:"Verify the claims of an answer before it is delivered, and have it written once more where some don't hold."`
}

// KB is about collections.
type KB struct {
	TopBM25      int     `key:"hybrid_top_bm25" alias:"hybrid_top_bm25" default:"50" min:"1" max:"1000" help:"Passages found by words that a search looks at."`
	TopDense     int     `key:"hybrid_top_dense" alias:"hybrid_top_dense" default:"50" min:"1" max:"1000" help:"Passages found by meaning that a search looks at, where models.embeddings is configured."`
	K            float64 `key:"hybrid_k" alias:"hybrid_k" default:"5" min:"1" max:"1000" help:"Constant of the reciprocal rank fusion of the two: the smaller it is, the more the first of each count."`
	ChunkSize    int     `key:"chunk_size" default:"0" min:"0" max:"20000" help:"Letters in a passage; 0 is the default. Documents that were cut otherwise are read again by the next sync."`
	MaxFileMB    int     `key:"max_file_mb" default:"64" min:"1" max:"4096" help:"Larger files are listed and not read, in MiB."`
	MaxUploadsMB int     `key:"max_uploads_mb" trusted:"true" default:"10240" min:"0" max:"1073741824" help:"Most that one user may have put into collections, in MiB; 0 is no limit."`
	Dictd        string  `key:"dictd" kind:"path" default:"/usr/share/dictd" help:"Folder of dictd's dictionaries that are installed on this machine; those between English and Russian or Chinese help to search in another language. Empty uses none."`
}

// Prompts replace the built-in ones. {available_tools} and {current_date} are filled in.
type Prompts struct {
	SystemPromptFile          string `key:"system_prompt_file" kind:"path" help:"File of the system prompt."`
	SystemPromptStr           string `key:"system_prompt_str" help:"Text of the system prompt."`
	InitialUserRequestFile    string `key:"initial_user_request_file" kind:"path" help:"File of the first user message."`
	InitialUserRequestStr     string `key:"initial_user_request_str" help:"Text of the first user message."`
	ClarificationResponseFile string `key:"clarification_response_file" kind:"path" help:"File of the message that carries a clarification."`
	ClarificationResponseStr  string `key:"clarification_response_str" help:"Text of the message that carries a clarification."`
}

// Models is an endpoint for each role. The fields hold what was said for the
// role itself; Config.Model tells what a call has to use.
type Models struct {
	Default    Endpoint `key:"default" section:"llm" alias:"model=default_model" default:"max_tokens=8000,temperature=0.4" flag:"provider=provider,model=model,base_url=base-url" help:"Whatever has no model of its own."`
	Chat       Endpoint `key:"chat" alias:"model=chat_model,max_tokens=chat_model_max_tokens,max_tokens=chat_max_tokens" default:"max_tokens=16384" help:"Conversation."`
	Summarizer Endpoint `key:"summarizer" alias:"model=search_summarization_model" help:"Plans, queries and notes on pages."`
	Researcher Endpoint `key:"researcher" help:"Researching agents."`
	Writer     Endpoint `key:"writer" help:"Reports."`
	Verifier   Endpoint `key:"verifier" help:"Checks of claims against passages."`
	Embeddings Endpoint `key:"embeddings" alias:"model=default_embedding_model" help:"Vectors of texts, for which it gets the text of every document; used only where model, provider or base_url is set here."`
}

// Endpoint is one model behind one address. What is empty is inherited.
type Endpoint struct {
	Provider      Provider `key:"provider" example:"auto" help:"openai, openai-compatible, anthropic, gigachat, aliyun, ollama, lmstudio, openrouter, deepseek, vllm or test; auto finds out from the address and the keys at hand."`
	BaseURL       URL      `key:"base_url" help:"Address of the API; empty is the provider's own."`
	APIKey        Secret   `key:"api_key" example:"OPENAI_API_KEY" help:"Name of the variable that holds the key, ${VAR}, or the key itself; empty is the provider's usual variable."`
	Model         string   `key:"model" help:"Name of the model; empty is the provider's default."`
	Temperature   *float64 `key:"temperature" min:"0" max:"2" help:"Randomness."`
	MaxTokens     int      `key:"max_tokens" min:"0" max:"10000000" help:"Longest reply, in tokens."`
	Proxy         URL      `key:"proxy" help:"HTTP or SOCKS5 proxy."`
	CAFile        string   `key:"ca_file" kind:"path" help:"PEM file of further certificate authorities."`
	Scope         string   `key:"scope" help:"GigaChat: GIGACHAT_API_PERS, GIGACHAT_API_B2B or GIGACHAT_API_CORP."`
	AuthURL       URL      `key:"auth_url" help:"GigaChat: where tokens are issued."`
	ContextWindow int      `key:"context_window" min:"0" max:"100000000" help:"Tokens that the model can hold; 0 is unknown."`
	PriceInput    float64  `key:"price_input" min:"0" help:"Price of a million tokens in."`
	PriceOutput   float64  `key:"price_output" min:"0" help:"Price of a million tokens out."`
	Extra         Tree     `key:"extra" help:"Further parameters, passed to the API as they are."`
}
