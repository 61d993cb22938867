// Package responses is OpenAI's Responses API. A response is a stretch of a run's
// event log: from where it begins until the run has ended or asks something. What
// is asked is the text of the response; to go on with it (previous_response_id)
// answers that, in the same run, and the answer begins the run's next stretch. Any
// other response that is gone on with is followed by a new run in its session.
// The id of a response is that of its run and of where in the log it begins, and
// everything else is in the log and in the run's request: a server that was
// started a moment ago knows all responses.
//
// # Sequence numbers
//
// A stream is a function of the log, numbers included. An event of the log with
// the sequence S tells its part under S·1,000,000 and what follows; the response
// itself is created under 0. So whoever comes back with starting_after gets exactly
// the rest, from this server or another one.
//
// The answer is the exception, because its pieces are not in the log while it is
// written. A reader who is there then sees it at once: its item is opened after the
// last event that was told, S, and from there on all numbers of this reader are in
// the upper half of S's, S·1,000,000 + 500,000 and what follows. What the log tells
// while the answer is open waits until it is done. Pieces are cut by a rule that
// looks only at the text before the cut, so that the text that comes bit by bit
// and the one that is whole in the log are cut alike, and the number of a piece
// says which one it is. So a number also tells which of two streams its reader is
// on, and that is the one that goes on after starting_after: of what a reader has
// not seen of an answer, the rest comes when the log has it.
//
// What was shown of an answer can't be taken back. Where a check or a model that
// starts over voids it, no more pieces come: response.output_text.done has the
// text that holds.
package responses

import (
	"net/http"

	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
	"dossier/internal/server/internal/models"
)

const aResponse = "/v1/responses/{id}"

// Protocol returns the routes. Modes, agents, templates and instances can be asked
// for as models.
func Protocol(modes []string) server.Protocol {
	a := &api{models.New(modes, "")}
	return server.Protocol{Name: "responses", Fail: fail, Failure: completion.Error{}, Routes: []server.Route{
		{Pattern: "POST /v1/responses", Scope: access.Run, Serve: a.create, Doc: &server.Doc{
			Summary: "Answer; with stream as server-sent events, with background at once and to be asked for later", Body: createRequest{}, Reply: Response{},
		}},
		{Pattern: "GET " + aResponse, Scope: access.Read, Serve: a.get, Doc: &server.Doc{
			Summary: "Show a response as far as it is; with stream its events from the first one, or the one after starting_after, on", Reply: Response{},
			Query: []server.Param{{Name: "stream", Type: "boolean", Help: "the events instead"}, {Name: "starting_after", Type: "integer", Help: "only events after this sequence number"}},
		}},
		{Pattern: "POST " + aResponse + "/cancel", Scope: access.Run, Serve: a.cancel, Doc: &server.Doc{Summary: "End a response at once", Reply: Response{}}},
		{Pattern: "POST /v1/responses/compact", Scope: access.Run, Serve: func(http.ResponseWriter, *http.Request) error { return errNoCompaction }},
		{Pattern: "DELETE " + aResponse, Scope: access.Run, Serve: a.delete, Doc: &server.Doc{Summary: "Delete a response, with the run that it is of", Reply: deleted{}}},
		{Pattern: "GET " + aResponse + "/input_items", Scope: access.Read, Serve: a.inputItems, Doc: &server.Doc{
			Summary: "What a response was asked, the last first", Reply: itemList{},
			Query: []server.Param{{Name: "order", Type: "string", Help: "asc or desc"}, {Name: "limit", Type: "integer", Help: "how many, 20 by default and 100 at most"}, {Name: "after", Type: "string", Help: "only items behind the one with this id"}},
		}},
	}}
}

// errNoCompaction is what clients know as a server without compaction; by itself the
// path would be that of a response.
var errNoCompaction = &server.Problem{Code: "not_found", Message: "there is no compaction here", Hint: "go on from a response with previous_response_id"}

type api struct{ models.Directory }

// fail writes an error in the form that clients of this API expect.
func fail(w http.ResponseWriter, _ *http.Request, status int, p *server.Problem) {
	_ = server.Reply(w, status, completion.NewError(status, p)) // it always encodes
}
