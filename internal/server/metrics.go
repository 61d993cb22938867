package server

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"dossier/internal/access"
	"dossier/internal/webhook"
)

// Figures are told in Prometheus' text format, which is a dozen lines to write; its
// client library and OpenTelemetry's exporter would be the largest dependencies of
// the program.

// meter counts requests by route.
type meter struct {
	mu     sync.Mutex
	routes map[served]*latency
}

type served struct {
	route, method string
	status        int
}

// latency is a histogram of how long requests took.
type latency struct {
	count   uint64
	sum     float64
	buckets [len(bounds)]uint64
}

// bounds of the buckets, in seconds.
var bounds = [...]float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60}

func newMeter() *meter { return &meter{routes: map[served]*latency{}} }

// served notes a request. The route is the pattern that it met, so that there are
// as many series as routes.
func (m *meter) served(pattern, method string, status int, took time.Duration) {
	if _, rest, ok := strings.Cut(pattern, " "); ok {
		pattern = rest
	}
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions:
	default:
		method = "other"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := served{pattern, method, status}
	l := m.routes[key]
	if l == nil {
		l = &latency{}
		m.routes[key] = l
	}
	seconds := took.Seconds()
	l.count++
	l.sum += seconds
	for i, b := range bounds {
		if seconds <= b {
			l.buckets[i]++
		}
	}
}

// write tells the figures of requests.
func (m *meter) write(b *bytes.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := make([]served, 0, len(m.routes))
	for k := range m.routes {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
	help(b, "dossier_http_request_duration_seconds", "histogram", "How long requests took, streams until their end.")
	for _, k := range keys {
		l := m.routes[k]
		labels := fmt.Sprintf(`route=%s,method=%s,status="%d"`, label(k.route), label(k.method), k.status)
		for i, bound := range bounds {
			fmt.Fprintf(b, "dossier_http_request_duration_seconds_bucket{%s,le=\"%s\"} %d\n", labels, strconv.FormatFloat(bound, 'g', -1, 64), l.buckets[i])
		}
		fmt.Fprintf(b, "dossier_http_request_duration_seconds_bucket{%s,le=\"+Inf\"} %d\n", labels, l.count)
		fmt.Fprintf(b, "dossier_http_request_duration_seconds_sum{%s} %g\n", labels, l.sum)
		fmt.Fprintf(b, "dossier_http_request_duration_seconds_count{%s} %d\n", labels, l.count)
	}
}

func help(b *bytes.Buffer, name, typ, text string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, text, name, typ)
}

// label quotes the value of a label.
func label(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// metrics serves the figures of the server.
func (p *Public) metrics(w http.ResponseWriter, r *http.Request) error {
	counts, err := p.options.Engine.Counts(r.Context())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	gauge := func(name, text string, value float64) {
		help(&b, name, "gauge", text)
		fmt.Fprintf(&b, "%s %g\n", name, value)
	}
	help(&b, "dossier_info", "gauge", "The version of the program.")
	fmt.Fprintf(&b, "dossier_info{version=%s,go=%s} 1\n", label(p.options.Version), label(runtime.Version()))
	gauge("dossier_start_time_seconds", "When the server began, in seconds since 1970.", float64(p.began.UnixMilli())/1000)
	help(&b, "dossier_runs", "gauge", "Runs by status.")
	statuses := slices.Clone(statuses)
	for status := range counts {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	for _, status := range statuses {
		fmt.Fprintf(&b, "dossier_runs{status=%s} %d\n", label(string(status)), counts[status])
	}
	deliveries, err := p.options.Engine.DeliveryCounts(r.Context())
	if err != nil {
		return err
	}
	help(&b, "dossier_webhook_deliveries", "gauge", "Messages to webhooks of the last 30 days, by what became of them.")
	for _, state := range []webhook.State{webhook.Pending, webhook.Delivered, webhook.GivenUp} {
		fmt.Fprintf(&b, "dossier_webhook_deliveries{state=%s} %d\n", label(string(state)), deliveries[state])
	}
	going, paused, err := p.options.Engine.ScheduleCounts(r.Context())
	if err != nil {
		return err
	}
	help(&b, "dossier_schedules", "gauge", "Schedules, by whether they are paused.")
	fmt.Fprintf(&b, "dossier_schedules{paused=\"false\"} %d\ndossier_schedules{paused=\"true\"} %d\n", going, paused)
	gauge("dossier_streams_open", "Streams that are open.", float64(p.api.streams.open()))
	gauge("go_goroutines", "Goroutines that exist.", float64(runtime.NumGoroutine()))
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	gauge("go_memstats_heap_inuse_bytes", "Bytes of the heap that are in use.", float64(mem.HeapInuse))
	gauge("go_memstats_sys_bytes", "Bytes that were had from the system.", float64(mem.Sys))
	p.gate.meter.write(&b)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes())
	return nil
}

// operations are the routes by which a server is run.
func (p *Public) operations() Protocol {
	return Protocol{Name: "operations", Routes: []Route{
		{
			Pattern: "GET /health", Scope: Open, Doc: &Doc{Summary: "That the server is there", Reply: healthBody{}},
			Serve: func(w http.ResponseWriter, _ *http.Request) error {
				return reply(w, http.StatusOK, healthBody{Status: "healthy", Service: Service})
			},
		},
		{
			Pattern: "GET /ready", Scope: Open, Doc: &Doc{Summary: "That the server can work: 503 says that it can't, or is about to stop", Reply: healthBody{}},
			Serve: p.ready,
		},
		{Pattern: "GET /metrics", Scope: access.Metrics, Serve: p.metrics, Doc: &Doc{Summary: "Figures in Prometheus' text format", Media: "text/plain; version=0.0.4"}},
	}}
}

// healthBody is how a server is.
type healthBody struct {
	Status  string `json:"status"`
	Service string `json:"service"`
}

// Service is the name of the server in /health.
const Service = "dossier"

// ready says whether the server can work.
func (p *Public) ready(w http.ResponseWriter, r *http.Request) error {
	if p.api.closing.Err() != nil {
		return &Problem{Code: "closing", Message: "the server is about to stop"}
	}
	if _, err := p.options.Engine.Counts(r.Context()); err != nil {
		p.gate.log.Error("the server is not ready", "error", err)
		return &Problem{Code: "closing", Message: "the data directory can't be read; the log says why"}
	}
	return reply(w, http.StatusOK, healthBody{Status: "ready", Service: Service})
}
