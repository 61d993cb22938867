package logs

import (
	"io"
	"log/slog"
	"slices"
)

// NewJSONHandler is NewHandler for programs that read logs: an object per line with
// time, level, msg, step and the attributes, which are nested where they are groups.
func NewJSONHandler(w io.Writer, level slog.Leveler, r *Redactor) slog.Handler {
	if r == nil {
		r = new(Redactor)
	}
	if level == nil {
		level = slog.LevelInfo
	}
	base := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		return safe(r, len(groups) == 0, a)
	}})
	return &jsonHandler{Handler: base, base: base}
}

// safe is an attribute without secrets and terminal escapes.
func safe(r *Redactor, top bool, a slog.Attr) slog.Attr {
	if a.Equal(slog.Attr{}) {
		return a // which is to be left out
	}
	v := a.Value.Resolve()
	switch {
	case top && a.Key == slog.LevelKey:
		if l, ok := v.Any().(slog.Level); ok {
			return slog.String(a.Key, LevelName(l))
		}
	case top && a.Key == slog.TimeKey && v.Kind() == slog.KindTime:
		return slog.Time(a.Key, v.Time().UTC())
	}
	a.Key = Printable(a.Key)
	if secretKey(a.Key) {
		return slog.String(a.Key, mask)
	}
	switch v.Kind() {
	case slog.KindString, slog.KindAny, slog.KindDuration:
		return slog.String(a.Key, r.Clean(valueText(v)))
	}
	return slog.Attr{Key: a.Key, Value: v}
}

// jsonHandler keeps the step of a logger at the top of its lines: the last one that
// was said counts, and groups don't hold it.
type jsonHandler struct {
	slog.Handler              // base with the step and all that was added
	base         slog.Handler // before either
	step         string
	grouped      bool
	added        []func(slog.Handler) slog.Handler
}

func (h *jsonHandler) with(add func(slog.Handler) slog.Handler) *jsonHandler {
	next := *h
	next.added = slices.Concat(h.added, []func(slog.Handler) slog.Handler{add})
	next.Handler = add(h.Handler)
	return &next
}

// WithAttrs implements slog.Handler.
func (h *jsonHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	rest := make([]slog.Attr, 0, len(attrs))
	next := *h
	for _, a := range attrs {
		if a.Key == StepKey && !h.grouped {
			next.step = a.Value.Resolve().String()
		} else {
			rest = append(rest, a)
		}
	}
	if next.step != h.step {
		next.Handler = h.base.WithAttrs([]slog.Attr{slog.String(StepKey, next.step)})
		for _, add := range h.added {
			next.Handler = add(next.Handler)
		}
	}
	if len(rest) == 0 {
		return &next
	}
	return next.with(func(to slog.Handler) slog.Handler { return to.WithAttrs(rest) })
}

// WithGroup implements slog.Handler.
func (h *jsonHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := h.with(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
	next.grouped = true
	return next
}
