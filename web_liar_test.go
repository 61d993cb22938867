package dossier

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"dossier/internal/studytest"
	"dossier/lang"
	"dossier/llm/llmtest"
)

// liar is a scripted model that knows its craft and abuses it. How it does is
// the name of the model that is asked for. Nothing that it invents carries a
// meaning: what is left of it in an answer is found by its name.
type liar struct {
	unread []string // addresses of pages that nobody opens
	made   sync.Map // how it misquoted, by the words in quotation marks
}

// inventions are the hosts and names in every address that it makes up.
const inventions = "evil-invention"

// addresses are the forms in which a text can point somewhere.
var addresses = []string{
	"More at https://evil-invention.example/a?q=1.", "See www.evil-invention.com/page for this.", "It is on evil-invention.org/b/c.html too.",
	"[the record](https://evil-invention.example/link \"a title\").", "[1](https://evil-invention.example/numbered).", "![chart](https://evil-invention.example/i.png)",
	"[![x](https://evil-invention.example/in.png)](https://evil-invention.example/out)", "See [the study][ref].\n\n[ref]: https://evil-invention.example/ref \"t\"\n",
	"As the note says[^n].\n\n[^n]: https://evil-invention.example/footnote\n", "<a href=\"https://evil-invention.example/a\">here</a>", "<img src='//evil-invention.example/i'>",
	"<iframe src=https://evil-invention.example/f></iframe>", "<https://evil-invention.example/auto>", "<someone@evil-invention.example>", "//evil-invention.example/relative",
	"[go](javascript:alert('evil-invention'))", "data:text/html,evil-invention", "[a]( <https://evil-invention.example/angle> )", "HTTPS://EVIL-INVENTION.EXAMPLE/CAPITALS",
	"http:\\\\evil-invention.example\\back", "<!-- https://evil-invention.example/comment -->", "[nested [label](https://evil-invention.example/x)](https://evil-invention.example/y)",
	"mailto:a@evil-invention.example", "ftp://evil-invention.example/f", "<script>location='https://evil-invention.example'</script>",
}

// lists are what looks like the list of sources that code makes.
var lists = []string{
	"## Sources\n\n1. https://evil-invention.example/s\n2. [Title](https://evil-invention.example/t)\n", "Источники:\n- https://evil-invention.example/s\n", "参考资料：\n[1] https://evil-invention.example/s\n",
}

// numbers are citations of sources that are none.
var numbers = []string{" [42]", " [0]", " [97-99]", " 【88】", " [^55]", " [source 77]", " [41, 43; 44]", "[999]"}

// The ways to lie.
var liars = []string{"addresses", "numbers", "misquotes", "uncited", "wrong-source", "obedient"}

func (l *liar) rules() []llmtest.Rule {
	do := func(schema string, f func(q *llmtest.Request) any) llmtest.Rule {
		return llmtest.Rule{Schema: schema, Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply { return llmtest.JSON(f(q)) })}
	}
	return []llmtest.Rule{
		do("plan", func(q *llmtest.Request) any {
			own := q.Question()
			queries := []string{own, "https://evil-invention.example/?q=" + own, own + " site evil-invention.com/x"}
			return map[string]any{"question": own, "facets": []any{map[string]any{"title": own, "queries": queries}}}
		}),
		do("ranked_list", func(q *llmtest.Request) any { return ranked(q.Question()) }),
		do("follow_up_list", func(*llmtest.Request) any {
			return map[string]any{"queries": []any{map[string]any{"facet": 1, "query": "see https://evil-invention.example/leak"}}}
		}),
		do("note", func(*llmtest.Request) any {
			return map[string]any{"relevant": true, "summary": "It says so [1], see https://evil-invention.example/note [42].", "quotes": []string{"https://evil-invention.example"}}
		}),
		do("synthesized_answer", func(q *llmtest.Request) any {
			return map[string]any{
				"reasoning": "Read at https://evil-invention.example/r [42].", "answer": l.lie(q.Model, shownIn(q.Question())), "unanswered": false,
				"key_points": []string{"A point [1] from https://evil-invention.example/k", "Another [42]", "A third, [1](https://evil-invention.example/k)", "A fourth"},
			}
		}),
		// The judge is of its kin: it finds everything borne out.
		do("judgements", func(q *llmtest.Request) any {
			out := []any{}
			for _, claim := range studytest.Claims(q.Question()) {
				verdict := "supported"
				if q.Model == "wrong-source" {
					verdict = "unsupported"
				}
				out = append(out, map[string]any{"claim": claim, "verdict": verdict, "passage": 1})
			}
			return map[string]any{"judgements": out}
		}),
		// Told what is wrong, it says the same again and adds an address.
		do("rewritten", func(q *llmtest.Request) any {
			return map[string]any{"answer": between(q.Question(), "<answer>\n", "\n</answer>") + "\n\nMended after https://evil-invention.example/mended [42]."}
		}),
	}
}

// misquote is a sentence in quotation marks that its source does not have.
type misquote struct{ how, text string }

// misquoted is how it made a quotation false, "" if it did not.
func (l *liar) misquoted(quote string) string {
	how, _ := l.made.Load(strings.Trim(quote, ".。 "))
	text, _ := how.(string)
	return text
}

// lie writes an answer from passages.
func (l *liar) lie(how string, shown []passage) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	all := copied(shown)
	for i, p := range shown {
		sentences := plainSentences(p.Text)
		if len(sentences) == 0 {
			continue
		}
		s, other := sentences[i%len(sentences)], shown[(i+1)%len(shown)].Source
		switch how {
		case "addresses":
			say("%s %s %s\n\n", cited(s, p.Source), addresses[i%len(addresses)], addresses[(i+7)%len(addresses)])
		case "numbers":
			say("%s%s%s %s%s\n\n", cited(s, p.Source), numbers[i%len(numbers)], numbers[(i+3)%len(numbers)], s, numbers[(i+5)%len(numbers)])
		case "misquotes":
			for _, m := range misquotes(s) {
				if bare := strings.Trim(m.text, ".。 "); !strings.Contains(all, bare) {
					open, end := quoteMarksOf(s)
					say("%s%s%s [%d].\n\n", open, m.text, end, p.Source)
					l.made.Store(bare, m.how)
				}
			}
			say("> %s [%d]\n\n", s, p.Source) // as it stands
		case "uncited":
			say("%s\n\n%s\n\n", s, cited(sentences[0], p.Source))
		case "wrong-source":
			say("%s\n\nThe mayor keeps %d dragons under the bridge [%d].\n\n", cited(s, other), i+3, p.Source)
		case "obedient":
			say("%s\n\n%s [%d]\n\nRead on at %s [%d].\n\n", cited(s, p.Source), p.Text, p.Source, l.unread[i%len(l.unread)], p.Source)
		}
	}
	if how == "addresses" {
		say("%s", strings.Join(lists, "\n"))
	}
	return b.String()
}

// misquotes are a sentence with another number, another name, a negation, and
// other words.
func misquotes(s string) []misquote {
	out := []misquote{{"number", withNumber(s)}, {"name", withName(s)}, {"negation", withNegation(s)}, {"words", withWords(s)}}
	return slices.DeleteFunc(out, func(m misquote) bool { return m.text == s })
}

func quoteMarksOf(s string) (open, end string) {
	switch lang.Detect(s) {
	case lang.Russian:
		return "«", "»"
	case lang.Chinese:
		return "「", "」"
	}
	return "“", "”"
}

// withNumber changes the last digit of a sentence.
func withNumber(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' })
	if i < 0 {
		return s
	}
	return s[:i] + string('0'+(s[i]-'0'+1)%10) + s[i+1:]
}

// withName replaces the last capitalised word of a sentence but its first.
func withName(s string) string {
	words := strings.Fields(s)
	for i := len(words) - 1; i > 0; i-- {
		r := []rune(words[i])
		if unicode.IsUpper(r[0]) && len(r) > 2 {
			name := "Quillon"
			if unicode.Is(unicode.Cyrillic, r[0]) {
				name = "Квиллон"
			}
			if last := r[len(r)-1]; unicode.IsPunct(last) {
				name += string(last)
			}
			words[i] = name
			return strings.Join(words, " ")
		}
	}
	return s
}

// withNegation puts a negation into the middle of a sentence.
func withNegation(s string) string {
	words := strings.Fields(s)
	switch lang.Detect(s) {
	case lang.Chinese:
		r := []rune(s)
		return string(r[:len(r)/2]) + "没有" + string(r[len(r)/2:])
	case lang.Russian:
		return strings.Join(slices.Insert(words, len(words)/2, "не"), " ")
	}
	return strings.Join(slices.Insert(words, len(words)/2, "not"), " ")
}

// withWords ends a sentence otherwise.
func withWords(s string) string {
	r := []rune(s)
	end := " and nobody knows why."
	switch lang.Detect(s) {
	case lang.Chinese:
		end = "而且没有人知道为什么。"
	case lang.Russian:
		end = " и никто не знает почему."
	}
	return string(r[:len(r)-1]) + end
}
