package logs

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

// handler writes lines of the form
//
//	2026-11-15T02:35:46.000Z DEBUG [step] message key=value
type handler struct {
	out    *output
	level  slog.Leveler
	redact *Redactor
	step   string
	attrs  string // formatted, each with a space before it
	group  string // prefix of keys
}

type output struct {
	mu sync.Mutex
	w  io.Writer
}

// NewHandler returns a handler that writes to w what is at or above level
// (nil: info), one line per record, masked by r (nil: patterns only).
func NewHandler(w io.Writer, level slog.Leveler, r *Redactor) slog.Handler {
	if level == nil {
		level = slog.LevelInfo
	}
	if r == nil {
		r = new(Redactor)
	}
	return &handler{out: &output{w: w}, level: level, redact: r}
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	var b strings.Builder
	b.WriteString(h.attrs)
	for _, a := range attrs {
		next.append(&b, h.group, a)
	}
	next.attrs = b.String()
	return &next
}

func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.group += name + "."
	return &next
}

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	line := *h // its step may be changed by the record
	var attrs strings.Builder
	attrs.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		line.append(&attrs, h.group, a)
		return true
	})
	var b strings.Builder
	if !r.Time.IsZero() {
		b.WriteString(r.Time.UTC().Format("2006-01-02T15:04:05.000Z"))
		b.WriteByte(' ')
	}
	b.WriteString(LevelName(r.Level))
	if line.step != "" {
		b.WriteString(" [" + line.step + "]")
	}
	b.WriteByte(' ')
	b.WriteString(oneLine(h.redact.Clean(r.Message)))
	b.WriteString(attrs.String())
	b.WriteByte('\n')

	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := io.WriteString(h.out.w, b.String())
	return err
}

// append writes an attribute, or takes it as the step.
func (h *handler) append(b *strings.Builder, group string, a slog.Attr) {
	v := a.Value.Resolve()
	if a.Key == StepKey && group == "" {
		h.step = oneLine(Printable(v.String()))
		return
	}
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, inner := range v.Group() {
			h.append(b, group, inner)
		}
		return
	}
	if a.Key == "" {
		return
	}
	b.WriteByte(' ')
	key := group + a.Key
	b.WriteString(quoteIfNeeded(oneLine(Printable(key))))
	b.WriteByte('=')
	text := mask
	if !secretKey(a.Key) {
		text = h.redact.Clean(valueText(v))
	}
	b.WriteString(quoteIfNeeded(text))
}

func valueText(v slog.Value) string {
	switch v.Kind() {
	case slog.KindTime:
		return v.Time().UTC().Format(time.RFC3339Nano)
	case slog.KindAny:
		switch x := v.Any().(type) {
		case error:
			return x.Error()
		case []byte:
			return string(x)
		case json.RawMessage:
			return string(x)
		case map[string]any, []any:
			if text, err := json.Marshal(x); err == nil {
				return string(text)
			}
		}
	}
	return v.String()
}

// oneLine keeps a text from making lines of its own.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s)
}

// quoteIfNeeded quotes what couldn't be told from the next attribute. Letters
// of any language stay readable.
func quoteIfNeeded(s string) string {
	if s != "" && !strings.ContainsAny(s, " =\"\n\t") {
		return s
	}
	return strconv.QuoteToGraphic(s)
}
