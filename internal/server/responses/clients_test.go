package responses_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	oai "github.com/openai/openai-go/v3/responses"

	"dossier/internal/clienttest"
)

func TestOfficialClientInJavaScript(t *testing.T) {
	s, letGo := talks(t)
	defer letGo()
	if said := clienttest.Node(t, "responses.mjs", s.URL, s.Ann, blue); said != "ok\n" {
		t.Error(said)
	}
}

func TestOfficialClientInPython(t *testing.T) {
	s, letGo := talks(t)
	defer letGo()
	if said := clienttest.Python(t, "responses.py", s.URL, s.Ann, blue); said != "ok\n" {
		t.Error(said)
	}
}

func TestOfficialClientInGo(t *testing.T) {
	s, letGo := talks(t)
	defer letGo()
	ctx := t.Context()
	client := openai.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey(s.Ann), option.WithMaxRetries(0))
	input := func(text string) oai.ResponseNewParams {
		return oai.ResponseNewParams{Model: "chat", Input: oai.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
	}
	stream := client.Responses.NewStreaming(ctx, input("Why is the sky blue?"))
	id, text, last := "", "", int64(-1)
	for stream.Next() {
		ev := stream.Current()
		if ev.SequenceNumber <= last {
			t.Errorf("%d after %d", ev.SequenceNumber, last)
		}
		last = ev.SequenceNumber
		switch ev := ev.AsAny().(type) {
		case oai.ResponseCreatedEvent:
			id = ev.Response.ID
		case oai.ResponseTextDeltaEvent:
			text += ev.Delta
		case oai.ResponseCompletedEvent:
			if ev.Response.OutputText() != blue {
				t.Errorf("%s", ev.RawJSON())
			}
		}
	}
	if err := stream.Err(); err != nil || text != blue {
		t.Fatalf("%q: %v", text, err)
	}
	events := func(after int64) (out []string, numbers []int64) {
		params := oai.ResponseGetParams{}
		if after >= 0 {
			params.StartingAfter = openai.Int(after)
		}
		stream := client.Responses.GetStreaming(ctx, id, params)
		for stream.Next() {
			ev := stream.Current()
			out, numbers = append(out, ev.RawJSON()), append(numbers, ev.SequenceNumber)
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		return out, numbers
	}
	whole, numbers := events(-1)
	for i, n := range numbers {
		rest, _ := events(n)
		if got := slices.Concat(whole[:i+1], rest); strings.Join(got, "\n") != strings.Join(whole, "\n") {
			t.Errorf("after %d: %v", n, rest)
		}
	}
	later := input("Why is grass green?")
	later.Background, later.PreviousResponseID = openai.Bool(true), openai.String(id)
	r, err := client.Responses.New(ctx, later)
	for err == nil && (r.Status == oai.ResponseStatusQueued || r.Status == oai.ResponseStatusInProgress) {
		r, err = client.Responses.Get(ctx, r.ID, oai.ResponseGetParams{})
	}
	if err != nil || r.OutputText() != blue || r.PreviousResponseID != id {
		t.Errorf("%+v: %v", r, err)
	}
	waiting := input("wait for ever")
	waiting.Background = openai.Bool(true)
	if r, err = client.Responses.New(ctx, waiting); err != nil {
		t.Fatal(err)
	}
	if r, err = client.Responses.Cancel(ctx, r.ID); err != nil || r.Status != oai.ResponseStatusCancelled {
		t.Errorf("%+v: %v", r, err)
	}
	items, err := client.Responses.InputItems.List(ctx, id, oai.InputItemListParams{})
	if err != nil || len(items.Data) != 1 || items.Data[0].AsMessage().Content[0].Text != "Why is the sky blue?" {
		t.Errorf("%+v: %v", items, err)
	}
	if err := client.Responses.Delete(ctx, id); err != nil {
		t.Error(err)
	}
	var problem *openai.Error
	if _, err := client.Responses.Get(ctx, id, oai.ResponseGetParams{}); !errors.As(err, &problem) || problem.StatusCode != http.StatusNotFound {
		t.Errorf("after it was deleted: %v", err)
	}
}
