package agent

import (
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
)

// A finder finds the answer in a reply while that arrives: it returns what gets
// the chunks of one reply, and passes pieces of the answer on.
type finder func(pass func(text string)) func(llm.Chunk)

// answerField is where the tool that ends the work takes the answer.
const answerField = "answer"

// answerSpoken finds it where the text of the reply is the answer.
func answerSpoken(pass func(string)) func(llm.Chunk) {
	return func(c llm.Chunk) { pass(c.Text) }
}

// answerWritten finds it where the reply is the arguments of the tool that ends
// the work, in text.
func answerWritten(pass func(string)) func(llm.Chunk) {
	feed := llm.StreamField(answerField, pass)
	return func(c llm.Chunk) { feed(c.Text) }
}

// answerCalled finds it in a call of the tool that ends the work.
func answerCalled(tools []tool.Tool) finder {
	return func(pass func(string)) func(llm.Chunk) {
		calls := make(map[int]func(string))
		return func(c llm.Chunk) {
			if c.Tool == nil {
				return
			}
			if c.Tool.Name != "" && ending(tools, c.Tool.Name) {
				calls[c.Tool.Index] = llm.StreamField(answerField, pass)
			}
			if feed := calls[c.Tool.Index]; feed != nil {
				feed(c.Tool.Arguments)
			}
		}
	}
}

// answerNested finds it in a call inside an object. The call should name its tool
// first; what comes before the name is held back.
func answerNested(tools []tool.Tool) finder {
	return func(pass func(string)) func(llm.Chunk) {
		name, held, ends := "", "", false
		names := llm.StreamField("function."+discriminator, func(text string) {
			name += text
			if ends = ending(tools, name); ends && held != "" {
				pass(held)
				held = ""
			}
		})
		feed := llm.StreamField("function."+answerField, func(text string) {
			if ends {
				pass(text)
			} else {
				held += text
			}
		})
		return func(c llm.Chunk) {
			text := c.Text
			if c.Tool != nil {
				text += c.Tool.Arguments
			}
			names(text)
			feed(text)
		}
	}
}

// ending says whether a name is that of a tool that ends the work.
func ending(tools []tool.Tool, name string) bool {
	t := named(tools, name)
	return t != nil && t.Spec().Kind == tool.Final
}

// answerMarked finds it behind the words that announce it.
func answerMarked(pass func(string)) func(llm.Chunk) {
	var reply strings.Builder
	found, none := false, false
	return func(c llm.Chunk) {
		switch {
		case found:
			pass(c.Text)
			return
		case none:
			return
		}
		reply.WriteString(c.Text)
		text := reply.String()
		for _, m := range marks.FindAllStringSubmatchIndex(text, -1) {
			switch part(text[m[2]:m[3]]) {
			case "action", "observation":
				none = true
				return
			case "answer":
				found = true
				pass(strings.TrimLeft(text[m[1]:], " \n"))
				return
			}
		}
	}
}

// show tells the answer while a model writes it, by sentences and without
// addresses. A nil one tells nothing.
type show struct {
	work   *Work
	scope  *run.Scope
	find   finder
	stream cite.Stream
	chunks func(llm.Chunk)
	stale  bool // what was told is of another reply
}

// showing is who tells the answer in the next reply. Only what the run itself
// answers is told.
func (w *Work) showing(s *run.Scope, find finder) *show {
	if find == nil || len(w.Task.Callers) > 0 || w.Scope.Path() != "" {
		return nil
	}
	h := &show{work: w, scope: s, find: find, stale: w.shown != ""}
	h.stream.Pass = func(text string, again bool) {
		again = again || h.stale
		if h.stale = false; again {
			w.shown = ""
		}
		w.shown += text
		_ = s.Emit(event.AnswerDelta{Text: text, Reset: again})
	}
	h.chunks = find(h.stream.Write)
	return h
}

// sink takes the chunks of the reply; nil when nobody has to.
func (h *show) sink() func(llm.Chunk) {
	if h == nil {
		return nil
	}
	return func(c llm.Chunk) {
		if !c.Restart {
			h.chunks(c)
			return
		}
		h.stream.Reset()
		h.chunks = h.find(h.stream.Write)
		if !h.stale && h.work.shown != "" {
			h.work.shown = ""
			_ = h.scope.Emit(event.AnswerDelta{Reset: true})
		}
	}
}

// end tells the rest.
func (h *show) end() {
	if h != nil {
		h.stream.End()
	}
}
