// Package console is the mode of the console agent: each request is classified, gets
// a tool, whose parameters are checked and which is then called. It answers questions
// from documents (rag_search) and writes haiku (generate_haiku), by services that are
// in the program or elsewhere.
//
// A run is one turn, from the user's message to the reply. What is shown in it are
// event.ConsoleLine; what a developer reads goes to the log, under the name of the
// step. The first step, in which the user is asked, is that of the command.
package console

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"dossier/event"
	"dossier/internal/base/logs"
	"dossier/lang"
	"dossier/llm"
	"dossier/llm/completions"
	"dossier/mode"
	"dossier/prompt"
	"dossier/run"
)

// Name of the mode.
const Name = "console"

// The steps, as they are named in the log and in lines.
const (
	StepMain   = "main"
	stepClass  = "cls"
	stepSelect = "select"
	stepValid  = "valid"
	stepExec   = "exec"
)

// Settings of the mode, frozen into each run.
type Settings struct {
	HistoryLimit   int       `json:"context_hist_limit"`
	MessageMaxLen  int       `json:"message_maxlen"`
	QuestionMaxLen int       `json:"param_question_maxlen"`
	ThemeMaxLen    int       `json:"param_theme_maxlen"`
	TopK           int       `json:"param_rag_top_k"`
	ExitOnLLMError bool      `json:"exit_on_llm_error"`
	ExitCommands   []string  `json:"exit_commands"`
	HelpCommands   []string  `json:"help_commands"`
	Lang           lang.Code `json:"lang"`
}

// Parts is what the mode works with.
type Parts struct {
	// Models to call, each call with a limit of its own.
	Models  *llm.Models
	History mode.History
	// Services for a user, which call models by the API if they do; the API has none
	// where there is no model.
	Services func(user string, code lang.Code, api *completions.API) (RAG, Poet)
	// Verbose has the payloads of calls logged.
	Verbose bool
	Log     *slog.Logger
}

// Mode is the console agent.
type Mode struct {
	Parts
	settings Settings
}

// New returns the mode with the settings for new runs.
func New(p Parts, settings Settings) *Mode {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	return &Mode{p, settings}
}

// Name implements mode.Mode.
func (m *Mode) Name() string { return Name }

// Settings implements mode.Mode.
func (m *Mode) Settings() any { return m.settings }

// Circumstances implements mode.Situated.
func (m *Mode) Circumstances(context.Context, *mode.Request) mode.Circumstances {
	return mode.Circumstances{Models: mode.ModelsOf(m.Models, llm.ForChat)}
}

// Help is what the agent says about itself.
func Help(code lang.Code, set Settings) string {
	list := func(commands []string) string {
		if len(commands) == 0 {
			return "—"
		}
		return commands[0]
	}
	return lang.Text(code, "console.help", "help", list(set.HelpCommands), "exit", list(set.ExitCommands))
}

// turn is one request on its way.
type turn struct {
	*Mode
	scope *run.Scope
	req   mode.Request
	set   Settings
	code  lang.Code
	// said are the messages that the model sees, the request last.
	said  []llm.Message
	model bool // made a decision
}

// Run implements mode.Mode.
func (m *Mode) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	t := &turn{Mode: m, scope: s, req: req}
	if err := json.Unmarshal(req.Settings, &t.set); err != nil {
		return mode.Answer{}, fmt.Errorf("settings of %s: %w", Name, err)
	}
	t.code = t.set.Lang
	if req.Lang != "" && req.Lang != "auto" {
		t.code = lang.Code(req.Lang)
	}
	var err error
	if t.said, err = req.Conversation(ctx, s, m.History, t.set.HistoryLimit-1); err != nil {
		return mode.Answer{}, err
	}
	t.said = append(t.said, llm.Message{Role: llm.RoleUser, Content: req.Question})
	for i := range t.said {
		t.said[i].Content = shorten(t.said[i].Content, t.set.MessageMaxLen)
	}
	reply, err := t.carryOut(ctx)
	if err != nil {
		return mode.Answer{}, err
	}
	answer := mode.Answer{Text: reply, Extractive: !t.model}
	if t.model && req.Circumstances != nil {
		answer.Model = req.Circumstances.Models[string(llm.ForChat)]
	}
	return answer, nil
}

// carryOut goes through the steps to the reply.
func (t *turn) carryOut(ctx context.Context) (reply string, err error) {
	if err := t.status(stepClass, "console.classify"); err != nil {
		return "", err
	}
	relevant, err := t.classify(ctx)
	if err != nil {
		return "", t.failed(stepClass, err)
	}
	if !relevant.Value {
		reply, err := t.reply(stepClass, decided(t.code, lang.Text(t.code, "console.irrelevant"), relevant.ByRules))
		if err != nil {
			return "", err
		}
		return reply, t.line(stepClass, Help(t.code, t.set), roleHelp, false)
	}
	if err := t.kept(stepClass, decided(t.code, lang.Text(t.code, "console.relevant"), relevant.ByRules)); err != nil {
		return "", err
	}

	if err := t.status(stepSelect, "console.select"); err != nil {
		return "", err
	}
	chosen, err := t.choose(ctx)
	if err != nil {
		return "", t.failed(stepSelect, err)
	}
	if chosen.Value.Tool == "" {
		return t.reply(stepSelect, decided(t.code, lang.Text(t.code, "console.unselected"), chosen.ByRules))
	}
	said := lang.Text(t.code, "console.selected", "tool", chosen.Value.Tool, "parameters", chosen.Value.parameters())
	if err := t.kept(stepSelect, decided(t.code, said, chosen.ByRules)); err != nil {
		return "", err
	}

	if err := t.status(stepValid, "console.validate"); err != nil {
		return "", err
	}
	checked, err := t.validate(ctx, chosen.Value)
	if err != nil {
		return "", err
	}
	if !checked.OK {
		return t.reply(stepValid, lang.Text(t.code, checked.Says))
	}
	if err := t.kept(stepValid, lang.Text(t.code, checked.Says, "text", checked.Text)); err != nil {
		return "", err
	}

	if err := t.status(stepExec, "console.execute"); err != nil {
		return "", err
	}
	done, err := t.execute(ctx, checked)
	if err != nil {
		return "", err
	}
	reply, err = t.reply(stepExec, done.Reply)
	if err != nil {
		return "", err
	}
	for _, note := range done.Notes {
		if err := t.line(stepExec, note, roleNote, false); err != nil {
			return "", err
		}
	}
	return reply, nil
}

// The roles of lines.
const (
	roleStatus = "status"
	roleReply  = "reply"
	roleNote   = "note"
	roleHelp   = "help"
	roleError  = "error"
)

func (t *turn) line(step, text, role string, kept bool) error {
	return t.scope.Emit(event.ConsoleLine{Step: step, Text: text, Role: role, Kept: kept})
}

// status says what is being done.
func (t *turn) status(step, key string) error {
	return t.line(step, lang.Text(t.code, key), roleStatus, false)
}

// kept is a status that is in the history, where no model sees it.
func (t *turn) kept(step, text string) error { return t.line(step, text, roleStatus, true) }

// reply is what the user gets, and the model sees in the turns to come.
func (t *turn) reply(step, text string) (string, error) {
	return text, t.line(step, text, roleReply, true)
}

// decided marks what rules said in the place of a model.
func decided(code lang.Code, text string, byRules bool) string {
	if byRules {
		return lang.Text(code, "console.by-rules", "text", text)
	}
	return text
}

// failed tells what the model failed at, if it is that which err is.
func (t *turn) failed(step string, err error) error {
	fault, ok := run.FaultOf(err)
	if !ok || fault.Code != CodeLLMError && fault.Code != CodeLLMReply {
		return err
	}
	key := map[string]string{CodeLLMError: "console.llm-error", CodeLLMReply: "console.llm-reply"}[fault.Code]
	if !t.set.ExitOnLLMError {
		key += "-stay"
	}
	if lerr := t.line(step, lang.Text(t.code, key), roleError, false); lerr != nil {
		return lerr
	}
	return err
}

// log is that of a step.
func (t *turn) log(step string) *slog.Logger { return logs.WithStep(t.Log, step) }

// api is the way to the models in a step of the run, which is charged for it.
func (t *turn) api(s *run.Scope, step string) (api *completions.API, configured bool) {
	client := t.Models.For(llm.ForChat)
	embedder := t.Models.For(llm.ForEmbeddings)
	api = &completions.API{Log: t.log(step), DefaultModel: client.Setting().Name, DefaultEmbeddingModel: embedder.Setting().Name}
	if t.req.Model != "" {
		api.DefaultModel = t.req.Model
	}
	if client.Configured() {
		api.Model = &prompt.Paid{Client: client, Scope: s, Role: llm.ForChat, Then: llm.ThenFailed}
	}
	if embedder.Setting().Embedder != nil {
		api.Embedder = embedder
	}
	return api, client.Configured()
}

// shorten leaves the middle of a long message out.
func shorten(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	const mark = " … "
	keep := most - len([]rune(mark))
	head := (keep + 1) / 2
	return string(r[:head]) + mark + string(r[len(r)-(keep-head):])
}

var _ mode.Situated = (*Mode)(nil)
