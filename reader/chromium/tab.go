package chromium

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"dossier/egress"
	"dossier/reader"
)

// How a page is seen to be quiet: nothing loads and nothing changes in it.
const (
	quiet = 500 * time.Millisecond // without a change
	// almost is how long a page whose last one or two requests do not end,
	// as with a channel for news, is waited for.
	almost = 2 * time.Second
	// look is the time between two looks.
	look = 100 * time.Millisecond
	// piece is the length of what is taken of the HTML at once, in UTF-16
	// units: as JSON it stays below maxMessage.
	piece = 2 << 20
	// maxRequests bounds the resources of a page.
	maxRequests = 3000
)

// script runs in a world of its own beside the page's: what the page does to
// JavaScript's objects is not seen there.
//
//go:embed tab.js
var script string

// world is the name of the script's.
const world = "dossier"

// tab is the page in a browser that is there for it alone.
type tab struct {
	*process
	proxy *egress.Proxy

	mu       sync.Mutex
	context  string // in which the page is
	target   string // the page, and its main frame
	session  string
	loaded   bool      // the main frame's document
	idle     bool      // nothing loads
	almost   time.Time // since when at most two requests are under way
	requests int
	failure  error // of the page
}

type obj map[string]any

// event hears what the browser tells.
func (t *tab) event(m *message) {
	switch m.Method {
	case "Fetch.requestPaused":
		t.request(m)
	case "Fetch.authRequired":
		t.authenticate(m)
	case "Target.targetCreated":
		t.window(m)
	case "Page.javascriptDialogOpening":
		t.tell(m.Session, "Page.handleJavaScriptDialog", obj{"accept": false})
	case "Page.lifecycleEvent":
		t.lifecycle(m)
	case "Inspector.targetCrashed":
		t.fails(errors.New("the page crashed the browser"))
	}
}

// tell sends a command whose outcome does not matter: the browser may be gone,
// or the page, and then who waits for it sees so.
func (t *tab) tell(session, method string, params obj) { _, _ = t.send(session, method, params, nil) }

// fails ends the wait for the page.
func (t *tab) fails(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == nil {
		t.failure = why
	}
}

// request decides about something that a page of this browser wants to load.
// Where it may go is the proxy's to say.
func (t *tab) request(m *message) {
	var p struct {
		ID      string `json:"requestId"`
		Type    string `json:"resourceType"`
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	t.mu.Lock()
	t.requests++
	most := t.requests > maxRequests
	t.mu.Unlock()
	unread := p.Type == "Image" || p.Type == "Media" || p.Type == "Font" // not part of the HTML
	web := strings.HasPrefix(p.Request.URL, "http://") || strings.HasPrefix(p.Request.URL, "https://")
	if most || unread || !web {
		t.tell(m.Session, "Fetch.failRequest", obj{"requestId": p.ID, "errorReason": "BlockedByClient"})
		return
	}
	t.tell(m.Session, "Fetch.continueRequest", obj{"requestId": p.ID})
}

// authenticate gives the password to the proxy and to nobody else.
func (t *tab) authenticate(m *message) {
	var p struct {
		ID        string `json:"requestId"`
		Challenge struct {
			Source string `json:"source"`
			Origin string `json:"origin"`
		} `json:"authChallenge"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	answer := obj{"response": "CancelAuth"}
	if p.Challenge.Source == "Proxy" && p.Challenge.Origin == "http://"+t.proxy.Address {
		answer = obj{"response": "ProvideCredentials", "username": t.proxy.User, "password": t.proxy.Password}
	}
	t.tell(m.Session, "Fetch.continueWithAuth", obj{"requestId": p.ID, "authChallengeResponse": answer})
}

// window closes what a page opens beside itself.
func (t *tab) window(m *message) {
	var p struct {
		Info struct {
			ID      string `json:"targetId"`
			Type    string `json:"type"`
			Context string `json:"browserContextId"`
		} `json:"targetInfo"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	t.mu.Lock()
	ours := p.Info.ID == t.target || p.Info.Context != t.context
	t.mu.Unlock()
	if p.Info.Type == "page" && !ours {
		t.tell("", "Target.closeTarget", obj{"targetId": p.Info.ID})
	}
}

func (t *tab) lifecycle(m *message) {
	var p struct {
		Frame string `json:"frameId"`
		Name  string `json:"name"`
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if json.Unmarshal(m.Params, &p) != nil || p.Frame != t.target { // the main frame has its target's id
		return
	}
	switch p.Name {
	case "init":
		t.loaded, t.idle, t.almost = false, false, time.Time{}
	case "load":
		t.loaded = true
	case "networkAlmostIdle":
		t.almost = time.Now()
	case "networkIdle":
		t.idle = true
	}
}

// show opens a page and returns its HTML.
func (t *tab) show(ctx context.Context, url string, conf Config) (*reader.Rendered, error) {
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	if err := t.navigate(ctx, url); err != nil {
		return nil, err
	}
	settle, cancel := context.WithTimeout(ctx, conf.Settle)
	defer cancel()
	if err := t.wait(settle); err != nil && settle.Err() == nil {
		return nil, err
	}
	return t.html(ctx, conf.MaxHTML)
}

// prepare makes the page in a context of its own: the browser's own requests
// are in another one, and do not get the proxy's password from here.
func (t *tab) prepare(ctx context.Context) error {
	var in struct {
		ID string `json:"browserContextId"`
	}
	if err := t.call(ctx, "", "Target.createBrowserContext", obj{}, &in); err != nil {
		return err
	}
	for _, c := range []struct {
		method string
		params obj
	}{
		{"Browser.setDownloadBehavior", obj{"behavior": "deny", "browserContextId": in.ID}},
		{"Fetch.enable", obj{"handleAuthRequests": true}},
	} {
		if err := t.call(ctx, "", c.method, c.params, nil); err != nil {
			return err
		}
	}
	var page struct {
		Target  string `json:"targetId"`
		Session string `json:"sessionId"`
	}
	if err := t.call(ctx, "", "Target.createTarget", obj{"url": "about:blank", "browserContextId": in.ID}, &page); err != nil {
		return err
	}
	if err := t.call(ctx, "", "Target.attachToTarget", obj{"targetId": page.Target, "flatten": true}, &page); err != nil {
		return err
	}
	t.mu.Lock()
	t.context, t.target, t.session = in.ID, page.Target, page.Session
	t.mu.Unlock()
	if err := t.call(ctx, "", "Target.setDiscoverTargets", obj{"discover": true}, nil); err != nil {
		return err
	}
	for _, c := range []struct {
		method string
		params obj
	}{
		{"Inspector.enable", obj{}},
		{"Page.enable", obj{}},
		{"Page.setLifecycleEventsEnabled", obj{"enabled": true}},
		{"Page.addScriptToEvaluateOnNewDocument", obj{"source": script, "worldName": world}},
	} {
		if err := t.call(ctx, page.Session, c.method, c.params, nil); err != nil {
			return err
		}
	}
	return nil
}

func (t *tab) navigate(ctx context.Context, url string) error {
	t.mu.Lock()
	t.loaded, t.idle, t.almost = false, false, time.Time{}
	t.mu.Unlock()
	var went struct {
		Error    string `json:"errorText"`
		Download bool   `json:"isDownload"`
	}
	if err := t.call(ctx, t.session, "Page.navigate", obj{"url": url}, &went); err != nil {
		return err
	}
	switch {
	case went.Download:
		return errors.New("it is a download")
	case went.Error != "":
		return t.refusal(fmt.Errorf("the page does not load (%s)", went.Error))
	}
	return nil
}

// wait returns when the page is quiet, or its time is over.
func (t *tab) wait(ctx context.Context) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.gone:
			return t.why
		case <-tick.C:
		}
		t.mu.Lock()
		failure := t.failure
		still := t.loaded && (t.idle || !t.almost.IsZero() && time.Since(t.almost) > almost)
		t.mu.Unlock()
		if failure != nil {
			return failure
		}
		if !still {
			continue
		}
		var since float64
		// An error is that of a document that has just been left.
		if t.evaluate(ctx, "still()", &since) == nil && since >= float64(quiet.Milliseconds()) {
			return nil
		}
	}
}

// evaluate runs an expression in the script's world of the page's document.
func (t *tab) evaluate(ctx context.Context, expression string, result any) error {
	var in struct {
		ID int `json:"executionContextId"`
	}
	if err := t.call(ctx, t.session, "Page.createIsolatedWorld", obj{"frameId": t.target, "worldName": world}, &in); err != nil {
		return err
	}
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	if err := t.call(ctx, t.session, "Runtime.evaluate", obj{"expression": expression, "contextId": in.ID, "returnByValue": true}, &out); err != nil {
		return err
	}
	if out.Exception != nil { // as the script is not there yet, or the text is too long for JavaScript
		return errLeft
	}
	return json.Unmarshal(out.Result.Value, result)
}

// html takes the document as it is now. One that is left meanwhile for another
// is forgotten.
func (t *tab) html(ctx context.Context, most int) (*reader.Rendered, error) {
	for {
		r, err := t.take(ctx, most)
		if _, left := errors.AsType[*refused](err); !left && !errors.Is(err, errLeft) {
			return r, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(look):
		}
	}
}

var errLeft = errors.New("the page went on while it was taken")

func (t *tab) take(ctx context.Context, most int) (*reader.Rendered, error) {
	var is struct {
		URL   string `json:"url"`
		Size  int    `json:"size"`
		Start string `json:"start"`
	}
	err := t.evaluate(ctx, fmt.Sprintf("take(%d)", piece), &is)
	switch {
	case err != nil:
		return nil, err
	case is.Size > most:
		return nil, fmt.Errorf("it is more than %d characters of HTML", most)
	case is.Size == 0:
		return nil, errors.New("there is no document")
	case strings.HasPrefix(is.URL, "chrome-error:"):
		return nil, t.refusal(errors.New("the page does not load"))
	}
	var b strings.Builder
	b.WriteString(is.Start)
	for at := units(is.Start); at < is.Size; {
		var part string
		if err := t.evaluate(ctx, fmt.Sprintf("part(%d, %d)", at, piece), &part); err != nil {
			return nil, err
		}
		if part == "" {
			return nil, errLeft
		}
		at += units(part)
		b.WriteString(part)
	}
	return &reader.Rendered{URL: is.URL, HTML: []byte(b.String())}, nil
}

// units is the length of a text in JavaScript.
func units(s string) (n int) {
	for _, r := range s {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// refusal is why the proxy opened nothing, if that is it, or else.
func (t *tab) refusal(other error) error {
	if refused := t.proxy.Refused(); len(refused) > 0 {
		return refused[0]
	}
	return other
}
