package socketio

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/run"
)

// talk is what is said over a connection. Packets are taken in one at a time.
type talk struct {
	conn  *conn
	token string      // of the packet that opened the talk; "" for that of the header
	known atomic.Bool // the client has said who they are

	mu      sync.Mutex
	follows map[string]*follow // by run
}

func newTalk(c *conn) *talk { return &talk{conn: c, follows: map[string]*follow{}} }

// receive takes in a packet. It fails where the client does not speak Socket.IO,
// or is gone.
func (t *talk) receive(text string) error {
	p, err := decodePacket(text)
	switch {
	case err != nil:
		return err
	case p.kind == connect:
		return t.open(p)
	case !t.known.Load():
		return errPacket
	case p.kind == disconnect:
		// The client closes the connection, which it may be about to move: if we
		// did, it would wait for an answer to that.
		t.known.Store(false)
		t.stopAll()
		poke(t.conn.unknown)
		return nil
	case p.kind == emitted:
		name, args, err := p.said()
		if err != nil {
			return err
		}
		return t.answer(p.id, name, args)
	}
	return nil // nothing that we send is acknowledged
}

// opening is what a client says of themselves.
type opening struct {
	Token string `json:"token"`
}

// open lets a client in, or says why not.
func (t *talk) open(p packet) error {
	if p.space != "/" {
		return t.refuse(p.space, &server.Problem{Code: "no_route", Message: "Invalid namespace", Hint: `there is only the namespace "/"`})
	}
	if t.known.Load() {
		return errPacket
	}
	var said opening
	if len(p.data) > 0 {
		_ = json.Unmarshal(p.data, &said) // other programs' clients say other things
	}
	if _, err := server.AdmitLater(t.conn.ctx, said.Token, access.Read); err != nil {
		return t.refuse("/", server.Explain(t.conn.ctx, err))
	}
	t.token = said.Token
	t.known.Store(true)
	return t.conn.send(packet{kind: connect, data: mustJSON(map[string]string{"sid": t.conn.id + "-1"})}.encode())
}

func (t *talk) refuse(space string, p *server.Problem) error {
	return t.conn.send(packet{kind: connectError, space: space, data: mustJSON(map[string]any{"message": p.Message, "data": p})}.encode())
}

// reply is what a client gets for what it asked.
type reply struct {
	Run   *run.Record     `json:"run,omitempty"`
	Error *server.Problem `json:"error,omitempty"`
}

// answer does what a client asks for and acknowledges it. Where the client wants
// no acknowledgement, it hears of failure only.
func (t *talk) answer(id, name string, args []json.RawMessage) error {
	said, then := t.do(name, args)
	var err error
	switch {
	case id != "":
		err = t.conn.send(packet{kind: acknowledged, id: id, data: mustJSON([]reply{said})}.encode())
	case said.Error != nil:
		err = t.conn.send(event("refused", mustJSON(map[string]any{"event": name, "error": said.Error})))
	}
	if then != nil {
		then()
	}
	return err
}

// do does what a client asks for. Then, if any, is called when that has been
// acknowledged.
func (t *talk) do(name string, args []json.RawMessage) (_ reply, then func()) {
	act, ok := actions[name]
	if !ok {
		return refused("there is no event " + strconv.Quote(name)), nil
	}
	if len(args) != 1 {
		return refused(name + " takes one object"), nil
	}
	ctx, err := server.AdmitLater(t.conn.ctx, t.token, act.scope)
	if err != nil {
		return reply{Error: server.Explain(t.conn.ctx, err)}, nil
	}
	rec, then, err := act.do(t, ctx, args[0])
	if err != nil {
		return reply{Error: server.Explain(ctx, err)}, nil
	}
	return reply{Run: rec}, then
}

func refused(why string) reply {
	names := slices.Sorted(maps.Keys(actions))
	return reply{Error: &server.Problem{Code: "usage", Message: why, Hint: "there are " + strings.Join(names, ", ")}}
}

// mustJSON encodes values that can be.
func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
