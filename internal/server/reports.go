package server

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/base/fonts"
	"dossier/internal/store"
	"dossier/report"
	"dossier/report/evidence"
	"dossier/run"
)

// media are the types of formats.
var media = map[dossier.Format]string{
	dossier.Markdown: "text/markdown; charset=utf-8",
	dossier.HTML:     "text/html; charset=utf-8",
	dossier.JSON:     "application/json",
	dossier.DOCX:     "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	dossier.PDF:      "application/pdf",
	dossier.BibTeX:   "application/x-bibtex; charset=utf-8",
	dossier.RIS:      "application/x-research-info-systems; charset=utf-8",
}

// reportRoutes are about what runs deliver.
func reportRoutes() []Route {
	routes := []Route{
		{
			Pattern: "GET " + aRun + "/snapshots", Scope: access.Read, Doc: &Doc{Summary: "The texts that a run's report rests on, by their hashes", Reply: map[string]string{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				texts, err := EngineOf(r.Context()).Snapshots(r.Context(), r.PathValue("id"))
				return give(w, texts, err)
			},
		},
		{
			Pattern: "GET " + aRun + "/snapshots/{hash}", Scope: access.Read, Serve: snapshot,
			Doc: &Doc{Summary: "One of the texts that a run's report rests on, as it was read", Media: "text/plain; charset=utf-8"},
		},
		{
			Pattern: "GET " + aRun + "/bundle", Scope: access.Read, Doc: &Doc{Summary: "All that is recorded of a run: its record, journal and events", Reply: dossier.Bundle{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				b, err := EngineOf(r.Context()).Export(r.Context(), r.PathValue("id"))
				return give(w, b, err)
			},
		},
		{
			Pattern: "GET " + aRun + "/bundle.zip", Scope: access.Read, Serve: bundle,
			Doc: &Doc{Summary: "A run's report with its evidence, as dossier verify checks it", Media: "application/zip"},
		},
	}
	for _, f := range dossier.Formats {
		doc := &Doc{Summary: fmt.Sprintf("The report of a run as .%s", f), Media: media[f]}
		switch f {
		case dossier.JSON:
			doc.Reply = report.Report{}
		case dossier.PDF:
			doc.Summary += ", of deep research that is done"
		}
		routes = append(routes, Route{Pattern: "GET " + aRun + "/report." + string(f), Scope: access.Read, Doc: doc, Serve: func(w http.ResponseWriter, r *http.Request) error {
			return deliver(w, r, f)
		}})
	}
	return routes
}

// snapshot serves a text that the report of a run rests on.
func snapshot(w http.ResponseWriter, r *http.Request) error {
	texts, err := EngineOf(r.Context()).Snapshots(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	hash := r.PathValue("hash")
	text, ok := texts[hash]
	if !ok {
		return fmt.Errorf("the text %q of run %s: %w", hash, r.PathValue("id"), store.ErrNotFound)
	}
	return file(w, hash+".txt", "text/plain; charset=utf-8", []byte(text), false)
}

// deliver serves a run's report in a format.
func deliver(w http.ResponseWriter, r *http.Request, f dossier.Format) error {
	e := EngineOf(r.Context())
	rec, err := e.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	rep, err := e.Report(r.Context(), rec.ID)
	none := errors.Is(err, dossier.ErrNoReport)
	switch {
	case (none || f == dossier.PDF) && !rec.Status.Ended():
		return &Problem{Code: "not_done", Message: fmt.Sprintf("run %s is %s, and its report is made at the end", rec.ID, rec.Status), Hint: "follow its events, and ask again after the end"}
	case none && f == dossier.PDF && rec.Status == run.Done:
		return &Problem{Code: "not_research", Message: fmt.Sprintf("a PDF is made of deep research, and run %s of the mode %s has no report", rec.ID, rec.Mode), Hint: "GET /api/runs/ID/events has its answer"}
	case none && f == dossier.PDF:
		return &Problem{Code: "not_done", Message: fmt.Sprintf("run %s is %s and has no report", rec.ID, rec.Status), Hint: "GET /api/runs/ID tells why"}
	case err != nil:
		return err
	case f != dossier.PDF:
	case rec.Status != run.Done:
		return &Problem{Code: "not_done", Message: fmt.Sprintf("run %s is %s: a PDF is made of one that is done", rec.ID, rec.Status), Hint: "what there is can be had as .md, .html, .docx or .json"}
	case rep.Kind != report.Research:
		return &Problem{Code: "not_research", Message: fmt.Sprintf("a PDF is made of deep research, and run %s is of the mode %s", rec.ID, rec.Mode), Hint: "it can be had as .md, .html, .docx or .json"}
	}
	made, err := dossier.Render(rep, f, fonts.Dirs(os.Getenv))
	if err != nil {
		return err
	}
	h := w.Header()
	if f == dossier.HTML {
		// A page of what models and pages said: it loads and runs nothing.
		h.Set("X-Frame-Options", "SAMEORIGIN")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups; frame-ancestors 'self'")
	}
	return file(w, rec.ID+"."+string(f), media[f], made.Data, f.Binary())
}

// file writes a body that is kept under a name when it is saved; attached, it is
// saved rather than shown.
func file(w http.ResponseWriter, name, typ string, data []byte, attached bool) error {
	how := "inline"
	if attached {
		how = "attachment"
	}
	h := w.Header()
	h.Set("Content-Type", typ)
	h.Set("Content-Disposition", fmt.Sprintf("%s; filename=%q", how, name))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(data) // a client that left doesn't need it
	return nil
}

// bundle serves a report with all that it rests on.
func bundle(w http.ResponseWriter, r *http.Request) error {
	e, id := EngineOf(r.Context()), r.PathValue("id")
	rep, err := e.Report(r.Context(), id)
	if err != nil {
		return err
	}
	texts, err := e.Snapshots(r.Context(), id)
	if err != nil {
		return err
	}
	all, err := e.Export(r.Context(), id)
	if err != nil {
		return err
	}
	data, err := evidence.Pack(evidence.Content{Report: rep, Snapshots: texts, Run: all.Run, Events: all.Events})
	if err != nil {
		return err
	}
	return file(w, all.Run.ID+".zip", "application/zip", data, true)
}

// accepts says whether a client wants a type rather than what it would get.
func accepts(r *http.Request, typ string) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), typ)
}
