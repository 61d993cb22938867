package socketio

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"dossier/internal/server"
)

// mostStrangers is how many may be connected at once who have not said who they
// are.
const mostStrangers = 1000

// hub has the connections.
type hub struct {
	mu    sync.Mutex
	conns map[string]*conn
}

// open makes a connection of a request, which stays until it is cancelled.
func (h *hub) open(r *http.Request) (*conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	strangers := 0
	if len(h.conns) >= mostStrangers {
		for _, c := range h.conns {
			if !c.talk.known.Load() {
				strangers++
			}
		}
	}
	if strangers >= mostStrangers {
		return nil, &server.Problem{Code: "rate_limit", Message: "too many connections wait to be told who they are", Hint: "try again in a few seconds"}
	}
	c := newConn(server.Visit(r))
	h.conns[c.id] = c
	go func() {
		c.watch()
		c.talk.end()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.conns, c.id)
	}()
	return c, nil
}

// refusal is what is wrong with a request, in the words of Engine.IO.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

var (
	unknownTransport = refusal{0, "Transport unknown"}
	unknownSession   = refusal{1, "Session ID unknown"}
	badRequest       = refusal{3, "Bad request"}
	oldProtocol      = refusal{5, "Unsupported protocol version"}
)

func (f refusal) write(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"code":`+strconv.Itoa(f.Code)+`,"message":"`+f.Message+`"}`) // whoever left doesn't need it
	return nil
}

// find finds the connection that a request names, nil where it names none, or
// says why there is none.
func (h *hub) find(r *http.Request) (*conn, *refusal) {
	q := r.URL.Query()
	if q.Get("EIO") != "4" {
		return nil, &oldProtocol
	}
	if !q.Has("sid") {
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.conns[q.Get("sid")]
	if c == nil {
		return nil, &unknownSession
	}
	return c, nil
}

// get opens a connection, fetches what waits in one, or makes a WebSocket of it.
func (h *hub) get(w http.ResponseWriter, r *http.Request) error {
	c, wrong := h.find(r)
	if wrong != nil {
		return wrong.write(w)
	}
	switch transport := r.URL.Query().Get("transport"); {
	case transport == "websocket":
		return h.websocket(w, r, c)
	case transport != "polling":
		return unknownTransport.write(w)
	case c != nil:
		return c.poll(w, r)
	}
	c, err := h.open(r)
	if err != nil {
		return err
	}
	return deliver(w, c.opening("websocket"))
}

// post takes in packets of a client that polls.
func (h *hub) post(w http.ResponseWriter, r *http.Request) error {
	c, wrong := h.find(r)
	switch {
	case wrong != nil:
		return wrong.write(w)
	case c == nil || r.URL.Query().Get("transport") != "polling":
		return badRequest.write(w)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostSent))
	if err == nil {
		err = c.receiveAll(string(body))
	}
	if err != nil {
		c.cancel()
		return badRequest.write(w)
	}
	return deliver(w, "ok")
}

// deliver replies with packets.
func deliver(w http.ResponseWriter, packets ...string) error {
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	_, err := io.WriteString(w, strings.Join(packets, separator))
	return err
}

// poll replies with what waits, as soon as something does.
func (c *conn) poll(w http.ResponseWriter, r *http.Request) error {
	c.mu.Lock()
	overlap := c.polled || c.upgraded
	c.polled = c.polled || !overlap
	c.mu.Unlock()
	if overlap {
		c.cancel()
		return badRequest.write(w)
	}
	defer func() {
		c.mu.Lock()
		c.polled = false
		c.mu.Unlock()
	}()
	for {
		if packets := c.take(); len(packets) > 0 {
			if err := deliver(w, packets...); err != nil {
				c.cancel()
			}
			return nil
		}
		c.mu.Lock()
		leave := c.probing || c.upgraded
		c.mu.Unlock()
		if leave {
			return deliver(w, packetNoop)
		}
		select {
		case <-c.more:
		case <-c.wake:
		case <-c.ctx.Done():
			return deliver(w, packetClose)
		case <-r.Context().Done():
			c.cancel() // the client has left
			return nil
		}
	}
}

// websocket serves a connection over a WebSocket from the start, or moves one
// there that the client has polled. Where the page is from has been looked at.
func (h *hub) websocket(w http.ResponseWriter, r *http.Request, c *conn) error {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // it has been told
	}
	defer ws.CloseNow()
	ws.SetReadLimit(mostSent)
	if c != nil {
		if !c.upgrade(ws) {
			return nil
		}
	} else {
		if c, err = h.open(r); err != nil {
			_ = ws.Close(websocket.StatusTryAgainLater, "too many connections")
			return nil
		}
		c.upgraded = true // nobody else knows of it
		c.put(c.opening(), mostBehind)
	}
	defer c.cancel()
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() { c.write(ws) })
	defer c.cancel()
	for {
		packet, err := readText(c.ctx, ws)
		if err != nil || c.receive(packet) != nil {
			return nil
		}
	}
}

// upgrade moves a connection to a WebSocket, as soon as the client has seen that
// it works, and says whether it is there.
func (c *conn) upgrade(ws *websocket.Conn) bool {
	ctx, cancel := context.WithTimeout(c.ctx, probePatience)
	defer cancel()
	if said, err := readText(ctx, ws); err != nil || said != packetProbe {
		return false
	}
	c.mu.Lock()
	taken := c.probing || c.upgraded
	c.probing = c.probing || !taken
	c.mu.Unlock()
	if taken {
		return false
	}
	poke(c.wake)
	err := ws.Write(ctx, websocket.MessageText, []byte(packetProbed))
	said := ""
	if err == nil {
		said, err = readText(ctx, ws)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing, c.upgraded = false, err == nil && said == packetUpgrade
	return c.upgraded
}

// write sends what waits, as it comes.
func (c *conn) write(ws *websocket.Conn) {
	defer c.cancel()
	for {
		for _, packet := range c.take() {
			if writeText(c.ctx, ws, packet) != nil {
				return
			}
			poke(c.room)
		}
		select {
		case <-c.more:
		case <-c.ctx.Done():
			return
		}
	}
}

// writePatience is how long a client may take for one packet.
const writePatience = time.Minute

func writeText(ctx context.Context, ws *websocket.Conn, text string) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	return ws.Write(ctx, websocket.MessageText, []byte(text))
}

func readText(ctx context.Context, ws *websocket.Conn) (string, error) {
	typ, data, err := ws.Read(ctx)
	if err == nil && typ != websocket.MessageText {
		err = errors.New("binary messages are not served")
	}
	return string(data), err
}
