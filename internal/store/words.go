package store

import (
	"encoding/hex"
	"slices"

	"dossier/event"
	"dossier/index"
	"dossier/lang"
)

// Said is what an event adds to the text by which a run is found: what was asked
// and answered, the sections of a report, and notes. It is empty for others.
func Said(d event.Data) string {
	switch d := d.(type) {
	case event.Message:
		return d.Text
	case event.ReportSection:
		return d.Title + "\n" + d.Text
	case event.NoteAdded:
		return d.Text
	case event.ReportEdited:
		return d.After
	}
	return ""
}

// SaidMost bounds the text by which one run is found, in bytes: what comes after
// it is not searched.
const SaidMost = 1 << 20

// SaidKinds are the kinds of events of which Said is not empty.
var SaidKinds = []event.Kind{event.KindMessage, event.KindReportSection, event.KindNoteAdded, event.KindReportEdited}

// Terms are the words of a text in the form in which they are compared: stems,
// and pairs of characters where a script has no spaces, each once and in order.
// They are made of ASCII letters and digits, so that every index takes them as
// they are.
func Terms(text string) []string {
	var terms []string
	for _, t := range index.Tokens(text, lang.English) {
		terms = append(terms, plain(t.Term))
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// QueryTerms are the Terms of a query: those that carry grammar only are left
// out, if there are others.
func QueryTerms(text string) []string {
	var telling, all []string
	for _, t := range index.Tokens(text, lang.English) {
		all = append(all, plain(t.Term))
		if !t.Function {
			telling = append(telling, plain(t.Term))
		}
	}
	if len(telling) == 0 {
		telling = all
	}
	slices.Sort(telling)
	return slices.Compact(telling)
}

func plain(term string) string {
	for _, c := range []byte(term) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "0u" + hex.EncodeToString([]byte(term))
		}
	}
	return term
}
