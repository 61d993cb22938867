package sources

import (
	"context"
	"errors"
	"slices"
	"strings"

	"dossier/lang"
	"dossier/run"
	"dossier/search"
)

// Holdings are everything that a question can be asked of.
type Holdings struct {
	Documents *Local
	Web       *Web
}

// Engines that are there now.
func (h *Holdings) Engines() []search.Info { return h.Web.Known() }

// Asked says what to open for a question.
type Asked struct {
	In Target
	// Material is text that came with the question.
	Material string
	// Language in which results of the web are preferred.
	Language lang.Code
	// Secret are texts that no address may carry.
	Secret []string
	// Known are the circumstances of the run; nil goes by what there is now.
	Known *Circumstances
}

// Opened is what a question is asked of, ready to be asked.
type Opened struct {
	Corpus Corpus
	Where  string   // in words, for prompts
	Notes  []string // for the reader of the answer
	// Web says that engines are asked, each of whose searches costs.
	Web bool
}

// resolved is what a question that names nothing is asked of.
type resolved struct {
	Collection string `json:"collection,omitempty"`
}

// Open makes ready what a question is asked of: the documents, the part of the
// web and the material that are named. Where nothing is, it is the collection
// in use; without one, the web.
func (h *Holdings) Open(ctx context.Context, s *run.Scope, a Asked) (Opened, error) {
	in := a.In
	given := strings.TrimSpace(a.Material) != ""
	documents := len(in.Paths) > 0 || in.Collection != ""
	if in.Web != nil && slices.Contains(in.Web.Engines, LocalName) {
		web := *in.Web
		web.Engines = slices.DeleteFunc(slices.Clone(web.Engines), func(name string) bool { return name == LocalName })
		in.Web, documents = &web, true
		if len(web.Engines) == 0 {
			in.Web = nil
		}
	}
	if !documents && !given && in.Web == nil {
		chosen, err := run.Step(ctx, s, "place", func(ctx context.Context, s *run.Scope) (resolved, error) {
			name, err := h.Documents.InUse(ctx, s.Record().User)
			return resolved{name}, err
		})
		if err != nil {
			return Opened{}, err
		}
		if in.Collection = chosen.Collection; in.Collection != "" {
			documents = true
		} else {
			in.Web = &WebScope{}
		}
	}
	return h.open(ctx, s, a, in, documents, given)
}

func (h *Holdings) open(ctx context.Context, s *run.Scope, a Asked, in Target, documents, given bool) (Opened, error) {
	var (
		out   Opened
		where []string
		parts []Corpus
	)
	if given {
		parts = append(parts, NewMaterial(h.Documents.Library, a.Material))
		where = append(where, "a text that the user gave")
	}
	if documents {
		ready, err := h.Documents.PrepareAll(ctx, s, in)
		if err != nil {
			return out, err
		}
		parts = append(parts, h.Documents.Corpus(ready...))
		where = append(where, ready[0].Where)
		for _, p := range ready {
			if len(parts) > 1 {
				p.Documents++ // the material
			}
			out.Notes = append(out.Notes, p.Notes(a.Language)...)
		}
	}
	if in.Web != nil {
		corpus, err := h.web(ctx, s, a, *in.Web)
		if err != nil {
			return out, err
		}
		parts = append(parts, corpus)
		where = append(where, "the web")
		out.Web = true
	}
	slices.Reverse(where)
	out.Corpus, out.Where = Join(parts...), strings.Join(where, " and ")
	return out, nil
}

// web opens a part of the web by the engines that the run knows of. Where these
// are not enough it is looked in a step whether there are others by now: a run
// that fails for want of an engine can be resumed when there is one.
func (h *Holdings) web(ctx context.Context, s *run.Scope, a Asked, scope WebScope) (Corpus, error) {
	secret := append(slices.Clip(a.Secret), a.Material, s.Record().ID)
	if a.Known == nil {
		return h.Web.Corpus(scope, a.Language, secret...)
	}
	corpus, err := h.Web.corpus(a.Known.Engines, scope, a.Language, secret...)
	if err == nil {
		return corpus, nil
	}
	known, err := run.Step(ctx, s, "engines", func(context.Context, *run.Scope) ([]search.Info, error) {
		_, err := h.Web.Corpus(scope, a.Language)
		return h.Web.Known(), err
	})
	if failed, ok := errors.AsType[*run.StepError](err); ok {
		return nil, stepError{failed}
	}
	if err != nil {
		return nil, err
	}
	return h.Web.corpus(known, scope, a.Language, secret...)
}
