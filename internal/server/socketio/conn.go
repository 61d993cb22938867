package socketio

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// How a connection treats its client.
const (
	// pingEvery is how often the client has to show that it is there, and
	// pingPatience how long it may take for that.
	pingEvery    = 25 * time.Second
	pingPatience = 20 * time.Second
	// namePatience is how long somebody may stay who does not say who they are.
	namePatience = 10 * time.Second
	// probePatience is how long moving from polling to a WebSocket may take.
	probePatience = 10 * time.Second
	// mostBehind is how many bytes a client may be behind, beside one packet, and
	// readPatience how long it may then take nothing at all.
	mostBehind   = 256 << 10
	readPatience = 10 * time.Second
	// mostSent is the largest body, or message, that a client may send.
	mostSent = 1 << 20
)

var errGone = errors.New("the connection is closed")

// conn is a connection of Engine.IO: what waits for the client, whichever way it
// is fetched. A client that is too slow is cut off; it comes back, and goes on
// from the last sequence that it saw.
type conn struct {
	id     string
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	talk   *talk

	more chan struct{} // something waits
	room chan struct{} // something was fetched
	pong chan struct{} // the client showed that it is there
	wake chan struct{} // a poll is to end

	unknown chan struct{} // the client is nobody any more

	in sync.Mutex // one packet at a time is taken in

	mu       sync.Mutex
	pending  []string
	bytes    int
	polled   bool // a request waits for packets
	probing  bool // the client tries a WebSocket
	upgraded bool // a WebSocket fetches
}

func newConn(ctx context.Context, cancel context.CancelFunc) *conn {
	signal := func() chan struct{} { return make(chan struct{}, 1) }
	c := &conn{id: rand.Text(), ctx: ctx, cancel: cancel, more: signal(), room: signal(), pong: signal(), wake: signal(), unknown: signal()}
	c.talk = newTalk(c)
	return c
}

// opening is the first packet: how the client is to behave.
func (c *conn) opening(upgrades ...string) string {
	raw, err := json.Marshal(map[string]any{
		"sid": c.id, "upgrades": append([]string{}, upgrades...), "pingInterval": pingEvery.Milliseconds(), "pingTimeout": pingPatience.Milliseconds(), "maxPayload": mostSent,
	})
	if err != nil {
		panic(err) // these are plain values
	}
	return packetOpen + string(raw)
}

// send has a packet fetched by the client. It waits while too much is waiting
// already, and cuts a client off that takes nothing.
func (c *conn) send(packet string) error {
	var patience *time.Timer
	for {
		if c.ctx.Err() != nil {
			return errGone
		}
		if c.put(packet, mostBehind) {
			return nil
		}
		if patience == nil {
			patience = time.NewTimer(readPatience)
			defer patience.Stop()
		}
		select {
		case <-c.room:
			patience.Reset(readPatience)
		case <-c.ctx.Done():
		case <-patience.C:
			c.cancel()
		}
	}
}

// put puts a packet where it is fetched, if no more than most bytes wait there
// then or none do.
func (c *conn) put(packet string, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes > 0 && c.bytes+len(packet) > most {
		return false
	}
	c.pending = append(c.pending, packet)
	c.bytes += len(packet)
	poke(c.more)
	return true
}

// take fetches all that waits.
func (c *conn) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.pending
	c.pending, c.bytes = nil, 0
	poke(c.room)
	return all
}

// watch sees to it that the client is there, until it is not.
func (c *conn) watch() {
	name := time.NewTimer(namePatience)
	defer name.Stop()
	ping := time.NewTimer(pingEvery)
	defer ping.Stop()
	asked := false
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.unknown:
			name.Reset(namePatience)
		case <-name.C:
			if !c.talk.known.Load() {
				c.cancel()
			}
		case <-c.pong:
			if asked {
				asked = false
				ping.Reset(pingEvery)
			}
		case <-ping.C:
			if asked {
				c.cancel()
				continue
			}
			asked = true
			ping.Reset(pingPatience)
			c.put(packetPing, mostBehind+len(packetPing))
		}
	}
}

// receive takes in a packet of the client. After an error the connection is of
// no use.
func (c *conn) receive(packet string) error {
	c.in.Lock()
	defer c.in.Unlock()
	if c.ctx.Err() != nil {
		return errGone
	}
	if packet == "" {
		return errPacket
	}
	switch packet[0] {
	case enginePong:
		poke(c.pong)
		return nil
	case engineMessage:
		return c.talk.receive(packet[1:])
	case engineClose:
		c.cancel()
		return nil
	}
	return errPacket
}

// receiveAll takes in the packets of a body.
func (c *conn) receiveAll(body string) error {
	for packet := range strings.SplitSeq(body, separator) {
		if err := c.receive(packet); err != nil {
			return err
		}
	}
	return nil
}

// poke tells whoever listens, once.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
