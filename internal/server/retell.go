package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"dossier"
	"dossier/lang"
	"dossier/run"
)

// What the API says to people is told in the language of the request: problems, why
// runs failed, how trials of connections went, and descriptions of agents and tools.
// The words of the log, of models and of other protocols stay as they are.

// tongue is the language that a request asks for, of those that there are messages
// in; English where it asks for none of them.
func tongue(r *http.Request) lang.Code {
	wanted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return lang.English
	}
	for _, tag := range wanted { // the most wanted first
		base, _ := tag.Base()
		if code := lang.Code(base.String()); slices.Contains(lang.Locales, code) {
			return code
		}
	}
	return lang.English
}

// explained is what an error with a code says, and what to do, as sentences in a
// language. Words that are not in the book stand behind what the code means.
func explained(to lang.Code, code, message, hint string) (string, string) {
	if to == lang.English {
		return message, hint
	}
	said, ok := lang.Retell(to, message)
	if !ok {
		if said, ok = lang.Retell(to, "["+code+"] "+message); !ok {
			said = message
		}
	}
	return capital(said), capital(lang.Retold(to, hint))
}

// capital begins a sentence in Russian with a capital letter; names stay as they are.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if !unicode.Is(unicode.Cyrillic, first) {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// in is a problem in a language.
func (p *Problem) in(to lang.Code) *Problem {
	out := *p
	out.Message, out.Hint = explained(to, p.Code, p.Message, p.Hint)
	return &out
}

// recordFor is a run as the caller of a request reads of it.
func recordFor(r *http.Request, rec run.Record) run.Record {
	if rec.Failure != nil {
		f := *rec.Failure
		f.Message, f.Hint = explained(tongue(r), f.Code, f.Message, f.Hint)
		rec.Failure = &f
	}
	return rec
}

func recordsFor(r *http.Request, list []run.Record) []run.Record {
	for i := range list {
		list[i] = recordFor(r, list[i])
	}
	return nonNil(list)
}

// findingFor is how a trial went, for the caller of a request.
func findingFor(r *http.Request, f dossier.Finding) dossier.Finding { return f.In(tongue(r)) }

// agentsFor are agents as the caller of a request reads of them.
func agentsFor(r *http.Request, list []dossier.AgentEntry) []dossier.AgentEntry {
	to := tongue(r)
	if to == lang.English {
		return nonNil(list)
	}
	list = slices.Clone(list)
	for i := range list {
		a := &list[i]
		a.Description, a.Trouble = lang.Retold(to, a.Description), capital(lang.Retold(to, a.Trouble))
		a.Capabilities = slices.Clone(a.Capabilities) // they are the definition's
		for j := range a.Capabilities {
			a.Capabilities[j] = lang.Retold(to, a.Capabilities[j])
		}
	}
	return nonNil(list)
}

// toolsFor are tools as the caller of a request reads of them.
func toolsFor(r *http.Request, list dossier.ToolList) dossier.ToolList {
	list.Tools = nonNil(list.Tools)
	to := tongue(r)
	if to == lang.English {
		return list
	}
	list.Tools, list.Trouble = slices.Clone(list.Tools), slices.Clone(list.Trouble)
	for i := range list.Tools {
		t := &list.Tools[i]
		t.Description, t.Error, t.Schema = lang.Retold(to, t.Description), capital(lang.Retold(to, t.Error)), schemaIn(to, t.Schema)
	}
	for i := range list.Trouble {
		t := &list.Trouble[i]
		t.Problem, t.Hint = capital(lang.Retold(to, t.Problem)), capital(lang.Retold(to, t.Hint))
	}
	return list
}

// schemaIn is a JSON schema whose descriptions are in a language.
func schemaIn(to lang.Code, schema json.RawMessage) json.RawMessage {
	var tree map[string]any
	if json.Unmarshal(schema, &tree) != nil {
		return schema
	}
	describeIn(to, tree)
	out, err := json.Marshal(tree)
	if err != nil {
		return schema
	}
	return out
}

func describeIn(to lang.Code, node any) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			if text, ok := value.(string); ok && key == "description" {
				node[key] = lang.Retold(to, text)
				continue
			}
			describeIn(to, value)
		}
	case []any:
		for _, value := range node {
			describeIn(to, value)
		}
	}
}
