// Package socketio serves runs over Socket.IO: clients start runs, follow them
// from any sequence on, answer what they ask and end them, over one connection.
//
// What clients hear of a run is its event log, under names that say what an event
// is about (see nameOf). A client that comes back subscribes anew, after the last
// sequence that it saw; nothing about a run is known to the connection alone, and
// leaving is not cancelling.
//
// The protocols are Engine.IO 4, over long polling and WebSocket, and Socket.IO 5
// with the one namespace "/" and without binary attachments.
package socketio

import (
	"dossier/internal/server"
)

// Path is where it is served.
const Path = "/socket.io/"

// Protocol is Socket.IO for a server. Its routes let anybody in: who somebody is
// they say in the packet that opens a conversation, or by the header that they
// came with, and before that they can do nothing.
func Protocol() server.Protocol {
	h := &hub{conns: map[string]*conn{}}
	return server.Protocol{Name: "socket.io", Routes: []server.Route{
		{Pattern: "GET " + Path + "{$}", Scope: server.Open, Serve: h.get},
		{Pattern: "POST " + Path + "{$}", Scope: server.Open, Serve: h.post},
	}}
}
