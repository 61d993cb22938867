package socketio

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Packets of Engine.IO are a character that says what they are, and text. Several
// in one body of long polling are separated.
const (
	enginePing    = '2'
	enginePong    = '3'
	engineClose   = '1'
	engineMessage = '4'

	packetOpen    = "0"
	packetClose   = "1"
	packetPing    = "2"
	packetProbe   = "2probe"
	packetProbed  = "3probe"
	packetUpgrade = "5"
	packetNoop    = "6"

	separator = "\x1e"
)

// kind is what a packet of Socket.IO is.
type kind byte

const (
	connect      kind = '0'
	disconnect   kind = '1'
	emitted      kind = '2'
	acknowledged kind = '3'
	connectError kind = '4'
)

// packet is one of Socket.IO, which an Engine.IO message carries.
type packet struct {
	kind  kind
	space string // namespace, "/" where none is named
	id    string // by which it is to be acknowledged; "" where it is not
	data  json.RawMessage
}

var errPacket = errors.New("this is no packet of Socket.IO")

// decodePacket reads a packet. What it returns encodes to a packet that reads the
// same.
func decodePacket(text string) (packet, error) {
	if text == "" {
		return packet{}, errPacket
	}
	p, rest := packet{kind: kind(text[0]), space: "/"}, text[1:]
	if p.kind < connect || p.kind > connectError {
		return packet{}, fmt.Errorf("%w that is served: there are no binary ones", errPacket)
	}
	if strings.HasPrefix(rest, "/") {
		p.space, rest, _ = strings.Cut(rest, ",")
	}
	digits := 0
	for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	if digits > 18 {
		return packet{}, errPacket
	}
	p.id, rest = rest[:digits], rest[digits:]
	if rest != "" {
		if !json.Valid([]byte(rest)) {
			return packet{}, errPacket
		}
		p.data = json.RawMessage(rest)
	}
	return p, nil
}

// encode is the inverse of decodePacket, as an Engine.IO message.
func (p packet) encode() string {
	var b strings.Builder
	b.Grow(len(p.data) + len(p.id) + 8)
	b.WriteByte(engineMessage)
	b.WriteByte(byte(p.kind))
	if p.space != "" && p.space != "/" {
		b.WriteString(p.space)
		b.WriteByte(',')
	}
	b.WriteString(p.id)
	b.Write(p.data)
	return b.String()
}

// said reads an event: its name and what was said with it.
func (p packet) said() (name string, args []json.RawMessage, err error) {
	if json.Unmarshal(p.data, &args) != nil || len(args) == 0 || json.Unmarshal(args[0], &name) != nil {
		return "", nil, errPacket
	}
	return name, args[1:], nil
}

// event is the packet of an event with one argument, which is JSON.
func event(name string, arg []byte) string {
	return packet{kind: emitted, data: []byte("[" + strconv.Quote(name) + "," + string(arg) + "]")}.encode()
}
