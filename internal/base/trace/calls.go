package trace

import (
	"context"
	"net/http"
)

// Endpoint is where a model is, and who provides it.
type Endpoint struct {
	Provider string
	// Host has the port where it is not that of https.
	Host string
}

// Inference is what a model is asked for.
type Inference struct {
	Model       string
	MaxTokens   int
	Temperature *float64
	JSON        bool
}

// Inferred is what a model answered.
type Inferred struct {
	ID, Model, Finish     string
	Input, Output, Cached int
}

// Chat begins a call to a model, with all its repetitions.
func Chat(ctx context.Context, at Endpoint, in Inference) (context.Context, Live) {
	p, ok := placeOf(ctx)
	if !ok {
		return ctx, nothing{}
	}
	attributes := p.call(opChat, at, in.Model)
	if in.MaxTokens > 0 {
		attributes = append(attributes, Attribute{keyMaxTokens, in.MaxTokens})
	}
	if in.Temperature != nil {
		attributes = append(attributes, Attribute{keyTemperature, *in.Temperature})
	}
	if in.JSON {
		attributes = append(attributes, Attribute{keyOutputType, "json"})
	}
	return p.start(ctx, Span{Name: opChat + " " + in.Model, Kind: Client, Attributes: attributes})
}

// Embeddings begins a call to a model that makes vectors of texts.
func Embeddings(ctx context.Context, at Endpoint, model string) (context.Context, Live) {
	p, ok := placeOf(ctx)
	if !ok {
		return ctx, nothing{}
	}
	return p.start(ctx, Span{Name: opEmbed + " " + model, Kind: Client, Attributes: p.call(opEmbed, at, model)})
}

func (p place) call(operation string, at Endpoint, model string) []Attribute {
	out := append([]Attribute{{keyOperation, operation}, {keyProvider, provider(at.Provider)}, {keyModel, model}}, endpoint(at.Host, "https")...)
	if p.run != nil {
		out = append(out, Attribute{keyConversation, p.run.Session})
	}
	return out
}

// Answered says what came of a call to a model.
func Answered(l Live, r Inferred) {
	if _, idle := l.(nothing); idle {
		return
	}
	out := []Attribute{{keyInput, r.Input}}
	if r.Output > 0 {
		out = append(out, Attribute{keyOutput, r.Output})
	}
	if r.Cached > 0 {
		out = append(out, Attribute{keyCached, r.Cached})
	}
	for _, a := range []Attribute{{keyAnswerID, r.ID}, {keyAnswerModel, r.Model}} {
		if a.Value != "" {
			out = append(out, a)
		}
	}
	if r.Finish != "" {
		out = append(out, Attribute{keyFinish, []string{r.Finish}})
	}
	l.Set(out...)
}

// Repeated says that a call failed, in a way, and goes out again.
func Repeated(l Live, kind string) { l.Event(eventRetry, Attribute{KeyError, kind}) }

// Idle says that nobody is told of a span.
func Idle(l Live) bool { _, idle := l.(nothing); return idle }

// Request begins a request to the server. Its parent is the span that the request
// names.
func Request(t Tracer, r *http.Request) (*http.Request, Live) {
	if t == nil {
		return r, nothing{}
	}
	ctx := t.Under(r.Context(), r.Header.Get("Traceparent"))
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	ctx, live := place{tracer: t}.start(ctx, Span{Name: r.Method, Kind: Server, Attributes: append([]Attribute{
		{keyMethod, r.Method}, {keyPath, r.URL.Path}, {keyScheme, scheme}, {keyVersion, r.Proto[len("HTTP/"):]},
	}, endpoint(r.Host, scheme)...)})
	return r.WithContext(ctx), live
}

// Replied ends a request: the route that it took, "" for none, and the status of
// the reply, 0 for none.
func Replied(l Live, method, route string, status int) {
	if route != "" {
		l.Rename(method + " " + route)
		l.Set(Attribute{keyRoute, route})
	}
	if status != 0 {
		l.Set(Attribute{keyStatus, status})
	}
	if status >= http.StatusInternalServerError {
		l.Fail(http.StatusText(status))
	}
	l.End()
}
