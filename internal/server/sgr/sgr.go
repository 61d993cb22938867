// Package sgr is the part of the API of SGR agents that is not OpenAI's: the
// agents at work with their states, what they ask, and the chats with them. An
// agent is known by its id and may have had several runs; all that is told of it
// follows from the records and logs of these.
package sgr

import (
	"net/http"

	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
	"dossier/mode"
)

// Options of the protocol.
type Options struct {
	// Generator is the form of the streams of agents that name none: openai, or
	// open_webui for text with foldable parts.
	Generator string
}

const (
	anAgent = "/agents/{id}"
	aChat   = "/v1/chats/{id}"
)

// Protocol returns the routes.
func Protocol(o Options) server.Protocol {
	a := &api{o}
	pages := []server.Param{{Name: "page", Type: "integer", Help: "which page, from 1"}, {Name: "page_size", Type: "integer", Help: "how many on a page, 20 by default and 100 at most"}}
	return server.Protocol{Name: "sgr", Fail: fail, Failure: completion.Error{}, Routes: []server.Route{
		{Pattern: "GET /agents", Scope: access.Read, Serve: listAgents, Doc: &server.Doc{Summary: "List the agents that have worked, the newest first", Reply: agentList{}, Query: []server.Param{
			{Name: "limit", Type: "integer", Help: "how many, 100 by default and at most"},
		}}},
		{Pattern: "GET " + anAgent + "/state", Scope: access.Read, Serve: showState, Doc: &server.Doc{Summary: "How far an agent is", Reply: agentState{}}},
		{Pattern: "POST " + anAgent + "/provide_clarification", Scope: access.Run, Serve: a.clarify, Doc: &server.Doc{
			Summary: "Answer what an agent has asked, and follow it as server-sent events", Body: clarification{}, Media: "text/event-stream",
		}},
		{Pattern: "POST " + anAgent + "/cancel", Scope: access.Run, Serve: cancelAgent, Doc: &server.Doc{Summary: "Cancel what an agent works on", Reply: cancelled{}}},
		{Pattern: "DELETE " + anAgent, Scope: access.Run, Serve: deleteAgent, Doc: &server.Doc{Summary: "Cancel what an agent works on, and delete all that it did", Reply: deleted{}}},
		{Pattern: "GET /v1/chats", Scope: access.Read, Serve: listChats, Doc: &server.Doc{Summary: "List the chats with agents, the newest first", Reply: chatList{}, Query: pages}},
		{Pattern: "GET " + aChat, Scope: access.Read, Serve: showChat, Doc: &server.Doc{Summary: "Show a chat; its id is the agent's", Reply: chatDetail{}}},
		{Pattern: "GET " + aChat + "/history", Scope: access.Read, Serve: showHistory, Doc: &server.Doc{Summary: "What was said and done in a chat", Reply: history{}, Query: pages}},
		{Pattern: "DELETE " + aChat, Scope: access.Run, Serve: deleteChat, Doc: &server.Doc{Summary: "Delete a chat with its agent", Reply: chatDeleted{}}},
	}}
}

type api struct{ Options }

// fail writes an error in the form that clients of this API expect.
func fail(w http.ResponseWriter, _ *http.Request, status int, p *server.Problem) {
	_ = server.Reply(w, status, completion.NewError(status, p)) // it always encodes
}

// errNone says that the caller has no such agent.
var errNone = &server.Problem{Code: "not_found", Message: "Agent not found", Hint: "GET /agents lists them"}

// clarification is an answer to an agent: messages, or in the earlier form of the
// API a text.
type clarification struct {
	Messages       []mode.Turn `json:"messages,omitempty"`
	Clarifications string      `json:"clarifications,omitempty"`
}
