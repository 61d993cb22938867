package llm

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// UnknownWindow is assumed for a model that is neither known nor configured.
const UnknownWindow = 32768

// windows are the context windows of model families, by the beginning of the
// name. Where versions of a family differ, the smaller counts.
var windows = map[string]int{
	"gpt-3.5": 16385, "gpt-4": 8192, "gpt-4-turbo": 128000, "gpt-4o": 128000, "gpt-4.1": 1047576, "gpt-5": 272000,
	"o1": 200000, "o1-mini": 128000, "o3": 200000, "o4": 200000, "gpt-oss": 131072,
	"claude": 200000, "claude-2": 100000,
	"gigachat": 32768, "gigachat-2": 131072,
	"qwen": 32768, "qwen-plus": 131072, "qwen-turbo": 131072, "qwen-long": 1000000, "qwen3-max": 262144,
	"deepseek": 65536, "deepseek-v3.1": 131072, "deepseek-v3.2": 131072,
	"gemini": 1048576, "gemma": 8192, "gemma3": 131072, "gemma-3": 131072,
	"llama2": 4096, "llama-2": 4096, "llama3": 8192, "llama-3": 8192, "llama3.1": 131072, "llama-3.1": 131072,
	"llama3.2": 131072, "llama-3.2": 131072, "llama3.3": 131072, "llama-3.3": 131072, "llama-4": 131072,
	"mistral": 32768, "mistral-large": 131072, "mistral-small": 32768, "mistral-medium": 131072, "mixtral": 32768, "ministral": 131072,
	"kimi": 131072, "moonshot": 131072, "glm-4": 131072, "yi": 32768, "phi3": 4096, "phi-3": 4096, "phi4": 16384, "phi-4": 16384,
	"yandexgpt": 32768, "command-r": 128000, "grok": 131072,
}

// family finds the longest key that the model's name begins with. A provider
// in front of the name ("openai/gpt-4o") doesn't matter, nor does case; the
// keys are in lower case and at most longestFamily long.
func family[V any](table map[string]V, model string) (v V, ok bool) {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	for n := min(len(name), longestFamily); n > 0; n-- {
		if v, ok = table[name[:n]]; ok {
			return v, true
		}
	}
	return v, false
}

const longestFamily = 32

// configured is family for a table whose keys are as somebody wrote them:
// in any case, with the provider or without.
func configured[V any](table map[string]V, model string) (v V, ok bool) {
	if len(table) == 0 {
		return v, false
	}
	whole := strings.ToLower(model)
	name := whole[strings.LastIndexByte(whole, '/')+1:]
	best := 0
	for key, value := range table {
		if len(key) <= best {
			continue
		}
		if k := strings.ToLower(key); strings.HasPrefix(name, k) || strings.HasPrefix(whole, k) {
			best, v, ok = len(key), value, true
		}
	}
	return v, ok
}

// Windows knows the context windows of models: those that were configured, the
// known families, and what providers' refusals have taught. The zero value is
// ready; it must not be copied.
type Windows struct {
	// Override gives windows by the beginning of a model's name.
	Override map[string]int

	learned sync.Map // model → int
}

// For returns the window of a model in tokens.
func (w *Windows) For(model string) int {
	n, ok := configured(w.Override, model)
	if !ok {
		if n, ok = family(windows, model); !ok {
			n = UnknownWindow
		}
	}
	if v, ok := w.learned.Load(model); ok {
		n = min(n, v.(int))
	}
	return n
}

// learn lowers the window of a model, and says whether that is news.
func (w *Windows) learn(model string, n int) bool {
	if n <= 0 || n >= w.For(model) {
		return false
	}
	w.learned.Store(model, n)
	return true
}

// Wrap returns m with a pre-flight: a request that wouldn't fit the model's
// window is compacted (see Fit), and when the provider says that it is too
// long all the same, the smaller window is remembered and the request is
// compacted once more. model is the name for requests that have none.
func (w *Windows) Wrap(m Model, model string, opts FitOptions) Model {
	return windowed{w, m, model, opts}
}

type windowed struct {
	w     *Windows
	m     Model
	model string
	opts  FitOptions
}

func (m windowed) Stream(ctx context.Context, req *Request, sink func(Chunk)) (*Response, error) {
	name := req.Model
	if name == "" {
		name = m.model
	}
	fitted, window := req, m.w.For(name)
	if mostTokens(req) > window-reserve(req, window, m.opts) {
		var err error
		if fitted, _, err = Fit(ctx, req, window, m.opts); err != nil {
			return nil, err
		}
	}
	resp, err := m.m.Stream(ctx, fitted, sink)
	e, refused := errors.AsType[*Error](err)
	if !refused || e.Kind != ErrTooLong {
		return resp, err
	}
	count := CountRequest(fitted)
	window = statedWindow(e.Message)
	if window <= 0 || window >= m.w.For(name) {
		window = (count + reserve(fitted, m.w.For(name), m.opts)) * 3 / 4
	}
	m.w.learn(name, window)
	again, _, fitErr := Fit(ctx, req, m.w.For(name), m.opts)
	if fitErr != nil {
		return nil, err
	}
	if CountRequest(again) >= count {
		// Our count is too low for this text: go by the refusal.
		if again, _, fitErr = Fit(ctx, req, count*3/4+reserve(fitted, window, m.opts), m.opts); fitErr != nil {
			return nil, err
		}
	}
	tell(ctx, Failure{Err: err, Attempt: 1, Then: ThenShorter})
	return m.m.Stream(ctx, again, sink)
}

var windowStatement = regexp.MustCompile(`(?i)(?:context (?:length|window|size)|maximum|limit)\D{0,40}?(\d{3,8})`)

// statedWindow reads the window out of a provider's refusal, 0 for none.
func statedWindow(message string) int {
	m := windowStatement.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
