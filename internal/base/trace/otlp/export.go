package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter sends batches of spans.
type exporter struct {
	Options
	closed  context.Context // ends when nothing more is to be sent
	failing atomic.Bool
}

// ExportSpans implements sdk.SpanExporter. What fails is logged, once until it goes
// well again, and not returned: the SDK would print it.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.closed, cancel)()
	err := e.deliver(ctx, encode(spans))
	switch was := e.failing.Swap(err != nil); {
	case err != nil && !was:
		e.log().Warn("traces can't be delivered; spans are dropped until they can", "endpoint", shown(e.Endpoint), "spans", len(spans), "error", err)
	case err == nil && was:
		e.log().Info("traces are delivered again", "endpoint", shown(e.Endpoint))
	}
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error { return nil }

func (e *exporter) log() *slog.Logger {
	if e.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Log
}

// shown is an address without what may be secret in it.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// The first wait before a request is repeated, and the longest.
const (
	firstWait   = time.Second
	longestWait = 10 * time.Second
)

// deliver sends a request, again where the collector says that it may be, until ctx
// ends.
func (e *exporter) deliver(ctx context.Context, body []byte) error {
	encoding := ""
	if e.Gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := w.Write(body)
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
		body, encoding = packed.Bytes(), "gzip"
	}
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		again, err := e.send(ctx, body, encoding)
		if err == nil || again < 0 {
			return err
		}
		pause := max(again, wait/2+rand.N(wait/2))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// send makes one request. Where it failed, again is how long the collector wants to
// be left alone; below 0, a repetition is of no use.
func (e *exporter) send(ctx context.Context, body []byte, encoding string) (again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Endpoint, bytes.NewReader(body))
	if err != nil {
		return -1, errors.New("the address is none") // the error would show all of it
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	for name, value := range e.Headers {
		req.Header.Set(name, value)
	}
	resp, err := e.Client.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // without the address
		}
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode/100 == 2 {
		return 0, nil
	}
	err = fmt.Errorf("the collector answered %s", resp.Status)
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, err
	}
	return -1, err
}
