package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier"
	"dossier/internal/base/fonts"
	"dossier/internal/server"
	"dossier/mode/chat"
	"dossier/mode/ingest"
	"dossier/mode/relay"
	"dossier/mode/toolcall"
	"dossier/report"
	"dossier/run"
)

// media are the types of reports.
var media = map[dossier.Format]string{
	dossier.Markdown: "text/markdown", dossier.HTML: "text/html", dossier.JSON: "application/json", dossier.PDF: "application/pdf",
	dossier.DOCX:   "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	dossier.BibTeX: "application/x-bibtex", dossier.RIS: "application/x-research-info-systems",
}

// root is what the addresses of runs begin with.
const root = "dossier://runs/"

// reportURI is the address of a run's report.
func reportURI(id string, f dossier.Format) string { return root + id + "/report." + string(f) }

// parseReport takes the address of a report apart.
func parseReport(uri string) (id string, f dossier.Format, ok bool) {
	rest, ok := strings.CutPrefix(uri, root)
	if !ok {
		return "", "", false
	}
	id, format, ok := strings.Cut(rest, "/report.")
	f = dossier.Format(format)
	return id, f, ok && id != "" && media[f] != ""
}

func (d *desk) addReports(s *sdk.Server) {
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "report", Title: "Report of a run", URITemplate: root + "{run}/report.{format}",
		Description: "What a run found out, with what it rests on: md, html, json, docx, pdf (of deep research), or bib or ris for the sources",
	}, d.readReport)
}

// readReport reads a report. One of another's run is not there.
func (d *desk) readReport(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	id, f, ok := parseReport(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	r, err := server.EngineOf(ctx).Report(ctx, id)
	switch {
	case errors.Is(err, run.ErrUnknownRun), errors.Is(err, dossier.ErrNoReport):
		return nil, sdk.ResourceNotFoundError(uri)
	case err != nil:
		return nil, refused(d.describe(ctx, err))
	case f == dossier.PDF && r.Kind != report.Research:
		return nil, sdk.ResourceNotFoundError(uri)
	}
	made, err := dossier.Render(r, f, fonts.Dirs(os.Getenv))
	if err != nil {
		return nil, refused(d.describe(ctx, err))
	}
	c := &sdk.ResourceContents{URI: uri, MIMEType: media[f]}
	if f.Binary() {
		c.Blob = made.Data
	} else {
		c.Text = string(made.Data)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
}

// pageSize is how many reports are listed at a time.
const pageSize = 50

// listed lists the reports of the caller's runs, the newest first. The cursor is
// the id of the last run that was looked at.
func (d *desk) listed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		p, ok := req.GetParams().(*sdk.ListResourcesParams)
		if method != "resources/list" || !ok {
			return next(ctx, method, req)
		}
		f := dossier.Filter{Status: run.Done, Limit: pageSize}
		if p != nil {
			f.Before = p.Cursor
		}
		runs, err := server.EngineOf(ctx).List(ctx, f)
		switch {
		case errors.Is(err, run.ErrUnknownRun):
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is none that this server gave"}
		case err != nil:
			return nil, refused(d.describe(ctx, err))
		}
		out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
		out.CacheScope = "private"
		for _, r := range runs {
			switch r.Mode {
			case chat.Name, relay.Name, toolcall.Name, ingest.Name:
				continue // these make none
			}
			out.Resources = append(out.Resources, &sdk.Resource{URI: reportURI(r.ID, dossier.Markdown), Name: r.ID, Title: r.Title, MIMEType: media[dossier.Markdown]})
		}
		if len(runs) == pageSize {
			out.NextCursor = runs[len(runs)-1].ID
		}
		return out, nil
	}
}

// allowed leaves tools out that the caller may not use.
func allowed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		list, ok := res.(*sdk.ListToolsResult)
		if err != nil || !ok {
			return res, err
		}
		list.Tools = slices.DeleteFunc(list.Tools, func(t *sdk.Tool) bool { return may(ctx, t.Name) != nil })
		return list, nil
	}
}

// refused is a problem as an error of the protocol.
func refused(p *server.Problem) *jsonrpc.Error {
	data, err := json.Marshal(p)
	if err != nil {
		data = nil // it has only texts
	}
	return &jsonrpc.Error{Code: -32000, Message: p.Message, Data: data}
}

// Refusal is a problem as a whole message of the protocol that answers no request
// in particular.
type Refusal struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      *string        `json:"id"`
	Error   *jsonrpc.Error `json:"error"`
}

func refusal(p *server.Problem) []byte {
	raw, err := json.Marshal(Refusal{JSONRPC: "2.0", Error: refused(p)})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"refused"}}`)
	}
	return raw
}
