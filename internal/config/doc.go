// Package config is the chain of configuration: defaults < environment <
// config.yaml < definitions < agents.yaml < the agent's own sections < template
// in the database < flags.
//
// A configuration is a value. Load makes one from Sources, Agent and
// WithTemplate make another from it, and nothing is ever changed in place, so
// a *Config may be shared between goroutines; its maps are read-only.
//
// # Adding a setting
//
// A setting is a field of a struct below Config, and its tags are the whole
// declaration; reading, environment, range, help, explanation and the example
// file follow from them:
//
//	key      name in YAML; nested structs make a dotted path: chat.history_limit
//	default  value when no layer sets one
//	alias    other flat names, comma separated: accepted at the top level of a
//	         file and, in capitals, from the environment (chat_model, CHAT_MODEL)
//	env      further variables, comma separated; DOSSIER_ and the path in
//	         capitals (DOSSIER_CHAT_HISTORY_LIMIT) always works
//	flag     name of the command line flag that sets it
//	min, max bounds of a number or duration
//	enum     allowed words, comma separated
//	kind     "path": relative to the file that says it, or to the working
//	         directory; ~/ is the home directory. Settings hold absolute paths,
//	         so that they mean the same wherever they are used
//	within   "data_dir", of a path: one that no file says stays relative, and
//	         lies in that directory
//	trusted  "true": no template sets it; so it is with every Secret and URL
//	example  what Template shows instead of the default
//	help     one sentence
//
// On a field that holds a struct, default, alias, env and flag name a key of
// that struct: `alias:"model=chat_model"`; `section:"llm"` accepts the struct
// under a second top-level name, where unknown keys go to its extra tree.
//
// A field may be a string, int, int64, float64, bool, time.Duration, []string,
// Secret, URL, Tree, a pointer to one of the scalars (nil: not set), a struct,
// or any type whose pointer is an encoding.TextUnmarshaler.
//
// # Names
//
// Keys are case-insensitive. chat: {history_limit: 5} and the flat
// chat_history_limit: 5 are the same setting. Variables with the prefix SGR__
// are paths with __ between the parts: SGR__LLM__API_KEY is llm.api_key, which
// is models.default.api_key. Of several variables for one setting DOSSIER_*
// wins, then SGR__*, then the others in the order of their declaration; an
// empty variable counts as unset.
//
// # Files
//
// One config.yaml is read: the one named by Sources.File (--config), else by
// $DOSSIER_CONFIG, else ./dossier.yaml, else ./config.yaml if it looks like
// ours (see looksLikeConfig), else $XDG_CONFIG_HOME/dossier/config.yaml. The
// name "none" reads no file. A configuration file is trusted: it says where
// prompts and keys are sent.
//
// ${VAR} and ${VAR:-default} in a value are replaced, $${ is a literal ${. In
// a place for a secret the bare name of a variable (api_key: OPENAI_API_KEY)
// stands for its value, and is no error when the variable is unset. Null
// empties a text and leaves any other setting alone. Top-level keys that begin
// with x- are ignored: a place for YAML anchors.
//
// # Agents
//
// An entry of agents: has sections of its own (llm, models, execution,
// prompts, search, mcp), which Config.Agent lays over the configuration, and
// keys that only an agent has (agentKeys). Config.Definition is both together.
// An entry replaces one of the same name in a lower layer, or a built-in one,
// wholly. Where one thing can be said in two ways (a prompt as text or file,
// max_searches in search or among the settings of web_search_tool), the higher
// layer counts, and in one layer the text and the tool's settings.
//
// A template has the form of an entry, but comes from the database: it reads no
// variables and no files, and says nothing of keys, addresses or servers.
package config
