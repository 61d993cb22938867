package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"dossier"
	"dossier/internal/access"
	"dossier/report"
	"dossier/run"
)

// tagsBody are the tags of a run or a collection.
type tagsBody struct {
	Tags []string `json:"tags"`
}

// finishedRoutes are about runs that are over: to find them again, to hold one against
// another, and to change what they say.
func finishedRoutes() []Route {
	return []Route{
		{
			Pattern: "GET /api/tags", Scope: access.Read, Doc: &Doc{Summary: "List the tags that runs have", Reply: []dossier.TagCount{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).Tags(r.Context(), "")
				return give(w, nonNil(list), err)
			},
		},
		{
			Pattern: "PUT " + aRun + "/tags", Scope: access.Run, Doc: &Doc{Summary: "Give a run these tags in place of those that it has", Body: tagsBody{}, Reply: tagsBody{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b tagsBody
				if err := read(w, r, &b); err != nil {
					return err
				}
				tags, err := EngineOf(r.Context()).Tag(r.Context(), r.PathValue("id"), b.Tags)
				return give(w, tagsBody{nonNil(tags)}, err)
			},
		},
		{
			Pattern: "GET " + aRun + "/changes", Scope: access.Read, Doc: &Doc{
				Summary: "What the report of a run has that an earlier one had not, and the other way round", Reply: dossier.Comparison{}, Query: []Param{{"since", "string", "the run with the earlier report"}},
			},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				c, err := EngineOf(r.Context()).Compare(r.Context(), r.URL.Query().Get("since"), r.PathValue("id"))
				return give(w, c, err)
			},
		},
		{
			Pattern: "POST " + aRun + "/report/edit", Scope: access.Run, Doc: &Doc{Summary: "Change a sentence or a paragraph of a report; what is new in it counts as unchecked", Body: dossier.ReportChange{}, Reply: report.Report{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b dossier.ReportChange
				if err := read(w, r, &b); err != nil {
					return err
				}
				made, err := EngineOf(r.Context()).EditReport(r.Context(), r.PathValue("id"), b)
				return give(w, made, err)
			},
		},
		{
			Pattern: "POST " + aRun + "/report/check", Scope: access.Run, Serve: revised(Engine.CheckReport),
			Doc: &Doc{Summary: "Hold the sentences that people wrote into a report against its evidence", Reply: report.Report{}},
		},
		{
			Pattern: "POST " + aRun + "/report/undo", Scope: access.Run, Serve: revised(Engine.UndoEdit),
			Doc: &Doc{Summary: "Take the last change of a report back", Reply: report.Report{}},
		},
		{
			Pattern: "POST /api/runs/import", Scope: access.Run, Serve: importBundle,
			Doc: &Doc{Summary: "Make a bundle of evidence, which is the body, a run that can be read", Takes: "application/zip", Reply: run.Record{}, Status: http.StatusCreated},
		},
	}
}

// revised makes another version of the report of the run that the path names.
func revised(do func(Engine, context.Context, string) (*report.Report, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		made, err := do(EngineOf(r.Context()), r.Context(), r.PathValue("id"))
		return give(w, made, err)
	}
}

func importBundle(w http.ResponseWriter, r *http.Request) error {
	most := callOf(r.Context()).api.maxBody
	if most == 0 {
		most = privateBody
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, min(most, dossier.MostImported)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &Problem{Code: "too_large", Message: fmt.Sprintf("the bundle has more than %d bytes", tooLarge.Limit)}
	case err != nil:
		return badBody(err)
	}
	rec, err := EngineOf(r.Context()).Import(r.Context(), data, CallerOf(r.Context()).User)
	if err != nil {
		return err
	}
	w.Header().Set("Location", path(rec.ID))
	return reply(w, http.StatusCreated, rec)
}

// EditReport implements Runs.
func (c *Client) EditReport(ctx context.Context, id string, to dossier.ReportChange) (*report.Report, error) {
	return fetch[*report.Report](ctx, c, http.MethodPost, path(id)+"/report/edit", to)
}

// CheckReport implements Runs.
func (c *Client) CheckReport(ctx context.Context, id string) (*report.Report, error) {
	return fetch[*report.Report](ctx, c, http.MethodPost, path(id)+"/report/check", nil)
}

// UndoEdit implements Runs.
func (c *Client) UndoEdit(ctx context.Context, id string) (*report.Report, error) {
	return fetch[*report.Report](ctx, c, http.MethodPost, path(id)+"/report/undo", nil)
}

// Compare implements Runs.
func (c *Client) Compare(ctx context.Context, before, after string) (dossier.Comparison, error) {
	return fetch[dossier.Comparison](ctx, c, http.MethodGet, path(after)+"/changes?since="+url.QueryEscape(before), nil)
}

// Tag implements Runs.
func (c *Client) Tag(ctx context.Context, id string, tags []string) ([]string, error) {
	b, err := fetch[tagsBody](ctx, c, http.MethodPut, path(id)+"/tags", tagsBody{tags})
	return b.Tags, err
}

// Tags implements Runs.
func (c *Client) Tags(ctx context.Context, _ string) ([]dossier.TagCount, error) {
	return fetch[[]dossier.TagCount](ctx, c, http.MethodGet, "/api/tags", nil)
}

// Import implements Runs. The run is the operator's, as whoever has the socket is.
func (c *Client) Import(ctx context.Context, bundle []byte, _ string) (run.Record, error) {
	return fetch[run.Record](ctx, c, http.MethodPost, "/api/runs/import", bytes.NewReader(bundle))
}

// EditReport implements Runs.
func (v view) EditReport(ctx context.Context, id string, c dossier.ReportChange) (r *report.Report, err error) {
	err = v.with(ctx, id, func(id string) error { r, err = v.Engine.EditReport(ctx, id, c); return err })
	return r, err
}

// CheckReport implements Runs.
func (v view) CheckReport(ctx context.Context, id string) (r *report.Report, err error) {
	err = v.with(ctx, id, func(id string) error { r, err = v.Engine.CheckReport(ctx, id); return err })
	return r, err
}

// UndoEdit implements Runs.
func (v view) UndoEdit(ctx context.Context, id string) (r *report.Report, err error) {
	err = v.with(ctx, id, func(id string) error { r, err = v.Engine.UndoEdit(ctx, id); return err })
	return r, err
}

// Compare implements Runs.
func (v view) Compare(ctx context.Context, before, after string) (c dossier.Comparison, err error) {
	err = v.with(ctx, after, func(after string) error {
		if before == "" {
			return &dossier.UsageError{Message: "since names no run", Hint: "GET /api/runs lists them"}
		}
		return v.with(ctx, before, func(before string) error { c, err = v.Engine.Compare(ctx, before, after); return err })
	})
	return c, err
}

// Tag implements Runs.
func (v view) Tag(ctx context.Context, id string, tags []string) (now []string, err error) {
	err = v.with(ctx, id, func(id string) error { now, err = v.Engine.Tag(ctx, id, tags); return err })
	return now, err
}

// Tags implements Runs.
func (v view) Tags(ctx context.Context, user string) ([]dossier.TagCount, error) {
	if !v.caller.Operates() {
		user = v.caller.User
	}
	return v.Engine.Tags(ctx, user)
}

// Import implements Runs.
func (v view) Import(ctx context.Context, bundle []byte, user string) (run.Record, error) {
	if !v.caller.Operates() {
		user = v.caller.User
	}
	rec, err := v.Engine.Import(ctx, bundle, user)
	about(ctx, rec.ID)
	return v.shown(rec), err
}
