package cli

import (
	"dossier/event"
	"dossier/lang"
	"dossier/llm"
)

// waiting is a line about a model that is waited for: about silence each time,
// about a failure once for each kind of it.
func (v *textView) waiting(w event.ModelWaiting) string {
	if w.Code == "quiet" {
		return lang.Text(v.lang, "line.model-silent", "model", w.Model, "seconds", int(w.Wait))
	}
	if v.verbose || !v.news(w.Model+" "+w.Code) {
		return "" // what is kept of it has a line
	}
	return lang.Text(v.lang, "line.model-fails", "model", w.Model, "why", v.brief(w.Message))
}

// modelFailed is a line about a call that failed. Without --verbose only that
// rules go on, or that tools are called otherwise, has one, once for each model:
// all else is in the log.
func (v *textView) modelFailed(f event.ModelFailed) string {
	key := ""
	switch llm.Consequence(f.Then) {
	case llm.ThenRepeated:
		key = "line.model-fails"
	case llm.ThenAgain:
		key = "line.model-again"
	case llm.ThenOtherWay, llm.ThenShorter:
		key = "line.model-way"
	case llm.ThenWithoutTools:
		key = "line.model-toolless"
	case llm.ThenRules:
		key = "line.model-rules"
	}
	short := f.Then == string(llm.ThenRules) || f.Then == string(llm.ThenWithoutTools)
	if key == "" || !v.verbose && !(short && v.news(f.Model+" "+f.Then)) {
		return ""
	}
	return lang.Text(v.lang, key, "model", f.Model, "why", v.brief(f.Message))
}

// news says whether something is told for the first time.
func (v *textView) news(what string) bool {
	if v.failing[what] {
		return false
	}
	if v.failing == nil {
		v.failing = make(map[string]bool)
	}
	v.failing[what] = true
	return true
}
