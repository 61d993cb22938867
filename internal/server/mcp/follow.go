package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
)

// outcome is how far a run is, as the tools return it.
type outcome struct {
	Run     string     `json:"run"`
	Session string     `json:"session,omitempty"`
	Status  run.Status `json:"status"`
	Answer  string     `json:"answer,omitempty"`
	Sources []source   `json:"sources,omitempty"`
	// Report is the address of the resource with all that was found.
	Report string `json:"report,omitempty"`
	// Asks are the questions that wait for the user.
	Asks []dossier.Ask `json:"asks,omitempty"`
	// Failure is why there is no answer.
	Failure *server.Problem `json:"failure,omitempty"`
	// Doing is the last thing that the run did.
	Doing string `json:"doing,omitempty"`
}

// source is one that the answer cites.
type source struct {
	Number int    `json:"number"`
	Title  string `json:"title,omitempty"`
	URL    string `json:"url"`
}

// take takes an event in.
func (o *outcome) take(ev event.Event, code lang.Code) (line string) {
	switch d := ev.Data.(type) {
	case event.RunStatus:
		o.Status = run.Status(d.Status)
	case event.RunReopened:
		o.Answer, o.Sources, o.Failure = "", nil, nil
	case event.RunError:
		if d.Fatal {
			o.Failure = &server.Problem{Code: d.Code, Message: d.Message, Hint: d.Hint}
		}
	case event.Message:
		if d.Role == string(llm.RoleAssistant) {
			o.Answer, o.Sources = d.Said(), cited(d.Citations)
		}
	case event.ExportReady:
		if d.Format == string(dossier.JSON) {
			o.Report = reportURI(o.Run, dossier.Markdown)
		}
	}
	if line = said(ev, code); line != "" {
		o.Doing = line
	}
	return line
}

// cited are the sources of citations, each once, by their numbers.
func cited(citations []event.Citation) []source {
	var list []source
	for _, c := range citations {
		if !slices.ContainsFunc(list, func(s source) bool { return s.Number == c.Number }) {
			list = append(list, source{Number: c.Number, Title: c.Title, URL: c.URL})
		}
	}
	slices.SortFunc(list, func(a, b source) int { return a.Number - b.Number })
	return list
}

// reply is what a tool answers: how far a run is, or what it needs to know.
type reply struct {
	outcome
	code  lang.Code
	input sdk.InputRequestMap
}

// result writes a reply.
func (r *reply) result() *sdk.CallToolResult {
	if r.input != nil {
		return &sdk.CallToolResult{InputRequests: r.input, RequestState: r.Run}
	}
	res := &sdk.CallToolResult{
		StructuredContent: r.outcome, IsError: r.Status == run.Failed,
		Content: []sdk.Content{&sdk.TextContent{Text: r.text()}},
	}
	if r.Report != "" {
		res.Content = append(res.Content, &sdk.ResourceLink{URI: r.Report, Name: "report of run " + r.Run, MIMEType: media[dossier.Markdown]})
	}
	return res
}

// text is a reply in words.
func (r *reply) text() string {
	var parts []string
	if r.Answer != "" {
		parts = append(parts, r.Answer)
	}
	if len(r.Sources) > 0 {
		var b strings.Builder
		b.WriteString(lang.Text(r.code, "heading.sources") + ":")
		for _, s := range r.Sources {
			b.WriteString("\n" + lang.Text(r.code, "mcp.source", "number", s.Number, "title", s.Title, "url", s.URL))
		}
		parts = append(parts, b.String())
	}
	switch {
	case len(r.Asks) > 0:
		for _, a := range r.Asks {
			parts = append(parts, question(a))
		}
		parts = append(parts, lang.Text(r.code, "mcp.asks", "run", r.Run))
	case r.Status == run.Done:
	case r.Status == run.Failed && r.Failure != nil:
		parts = append(parts, strings.TrimSpace(lang.Text(r.code, "mcp.failed", "run", r.Run, "why", r.Failure.Message)+" "+r.Failure.Hint))
	case r.Status == run.Cancelled:
		parts = append(parts, lang.Text(r.code, "mcp.cancelled", "run", r.Run))
	case r.Status == run.Paused:
		parts = append(parts, lang.Text(r.code, "mcp.paused", "run", r.Run))
	default:
		parts = append(parts, lang.Text(r.code, "mcp.working", "run", r.Run, "doing", r.Doing))
	}
	return strings.Join(parts, "\n\n")
}

// question is what a run asks, with the answers that it offers.
func question(a dossier.Ask) string {
	lines := slices.Clone(a.Questions)
	for _, option := range a.Options {
		lines = append(lines, "- "+option)
	}
	return strings.Join(lines, "\n")
}

// follow waits for a run until it is over, rests, or asks what the client can't be
// asked, and no longer than it has patience.
func (d *desk) follow(ctx context.Context, req *sdk.CallToolRequest, id string, patience time.Duration) (*reply, error) {
	ctx, leave, err := server.Lasting(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	for {
		r, err := d.watch(ctx, req, id, patience)
		if err != nil || len(r.Asks) == 0 || !canElicit(req) {
			return r, err
		}
		if req.ProtocolVersion() >= withoutHandshake {
			r.input = sdk.InputRequestMap{}
			for _, a := range r.Asks {
				r.input[a.ID] = form(a)
			}
			return r, nil
		}
		a := r.Asks[0]
		said, err := req.Session.Elicit(ctx, form(a))
		if err != nil {
			return r, ctx.Err() // who can't be asked is told
		}
		if open, err := d.respond(ctx, r.Run, sdk.InputResponseMap{a.ID: said}); err != nil || open {
			return r, err
		}
	}
}

// watch follows a run once, to where there is something to say.
func (d *desk) watch(ctx context.Context, req *sdk.CallToolRequest, id string, patience time.Duration) (*reply, error) {
	e := server.EngineOf(ctx)
	rec, err := e.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &reply{outcome: outcome{Run: rec.ID, Session: rec.Session, Status: rec.Status}, code: language(rec)}
	if patience == 0 {
		return r, d.look(ctx, r)
	}
	within, stop := ctx, context.CancelFunc(func() {})
	if patience > 0 {
		within, stop = context.WithTimeout(ctx, patience)
	}
	defer stop()
	tell := newTelling(ctx, req)
	defer tell.end()
	for ev, err := range e.Events(within, rec.ID, 0) {
		if err != nil {
			if within.Err() != nil && ctx.Err() == nil {
				break // the run goes on
			}
			return nil, err
		}
		line := r.take(ev, r.code)
		if !ev.Transient() && ev.Seq <= rec.LastSeq {
			line = "" // of before
		}
		tell.say(line)
		if ev.Transient() || ev.Seq < rec.LastSeq || !rests(ev) && ev.Seq != rec.LastSeq {
			continue
		}
		if err := r.questions(ctx); err != nil || len(r.Asks) > 0 || r.Status == run.Paused {
			return r, err
		}
	}
	if within.Err() != nil {
		return r, d.look(ctx, r)
	}
	return r, nil
}

// rests says whether an event may be the last for a while.
func rests(ev event.Event) bool {
	switch d := ev.Data.(type) {
	case event.ClarifyAsked:
		return true
	case event.RunStatus:
		return d.Status == string(run.Waiting) || d.Status == string(run.Paused)
	}
	return false
}

// questions finds out what a run asks. For its user it waits then, though other
// parts of it may be at work.
func (r *reply) questions(ctx context.Context) error {
	detail, err := server.EngineOf(ctx).Show(ctx, r.Run)
	if r.Asks = detail.Asks; len(r.Asks) > 0 {
		r.Status = run.Waiting
	}
	return err
}

// look takes in what is recorded of a run at this moment.
func (d *desk) look(ctx context.Context, r *reply) error {
	log, err := server.EngineOf(ctx).Log(ctx, r.Run, 0)
	if err != nil {
		return err
	}
	for _, ev := range log {
		r.take(ev, r.code)
	}
	if r.Status.Ended() {
		return nil
	}
	return r.questions(ctx)
}

// rest is a run whose question stays open.
func (d *desk) rest(ctx context.Context, id string, err error) (*reply, error) {
	if err != nil {
		return nil, err
	}
	rec, err := server.EngineOf(ctx).Get(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &reply{outcome: outcome{Run: rec.ID, Session: rec.Session, Status: rec.Status}, code: language(rec)}
	return r, d.look(ctx, r)
}

// canElicit says whether the client can ask its user something for us.
func canElicit(req *sdk.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// form is a question as a form with one field.
func form(a dossier.Ask) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "form", Message: question(a), RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"` + answerField + `":{"type":"string"}},"required":["` + answerField + `"]}`)}
}

const answerField = "answer"

// answerIn is what the user filled in. Who declines skips the question; who turns
// away leaves it open.
func answerIn(said *sdk.ElicitResult) (text string, answered bool) {
	switch said.Action {
	case "accept":
		text, _ = said.Content[answerField].(string)
		return text, strings.TrimSpace(text) != ""
	case "decline":
		return "skip", true
	}
	return "", false
}

// language is the one in which a run talks to its user.
func language(rec run.Record) lang.Code {
	var req mode.Request
	_ = json.Unmarshal(rec.Request, &req) // one that can't be read has the usual language
	return lang.Catalogue(req.Language(""))
}
