package webtest

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"dossier/lang"
)

// phrases are what pages of a language say around their facts.
type phrases struct {
	fields  map[string]string
	filling map[string][]string // by the kind of page
}

func (s *site) readPhrases() error {
	all, err := records("phrases")
	if err != nil {
		return err
	}
	for _, r := range all {
		p := &phrases{fields: r.fields, filling: map[string][]string{}}
		for _, line := range r.lines {
			kind, text, _ := strings.Cut(line, " ")
			p.filling[kind] = append(p.filling[kind], text)
		}
		s.phrases[lang.Code(r.name)] = p
	}
	return nil
}

// field is one of the alternatives of a field, by the seed.
func (p *phrases) field(name, seed string) string {
	choices := strings.Split(p.fields[name], "|")
	return choices[pick(seed+name, len(choices))]
}

// swap changes a few words of a text, as who reprints it does.
func (p *phrases) swap(text string) string {
	for pair := range strings.SplitSeq(p.fields["swap"], "|") {
		from, to, _ := strings.Cut(pair, "=")
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// fill is n different sentences of a kind about a thing, in the order of the
// file.
func (p *phrases) fill(kind, name, seed string, n int) []string {
	choices := p.filling[kind]
	first := pick(seed+kind, len(choices))
	step := 1 + pick(seed+"step", 2)
	taken := make([]bool, len(choices))
	for i := range min(n, len(choices)) {
		at := (first + i*step) % len(choices)
		for taken[at] {
			at = (at + 1) % len(choices)
		}
		taken[at] = true
	}
	var out []string
	for i, t := range taken {
		if t {
			out = append(out, strings.ReplaceAll(choices[i], "{name}", name))
		}
	}
	return out
}

// pick is a choice among n that is the same for the same seed.
func pick(seed string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(seed))
	return int(h.Sum32()>>8) % n
}

// places are where the pages of a language about one thing are: the article,
// the news with its year, the questions, the thread, the guide, the copy.
var places = map[lang.Code][6]string{
	lang.English: {"http://encyclo.example/wiki/", "http://harbourpost.example/", "http://askhere.example/faq/", "http://talk.example/t/", "http://wayfarer.example/guide/", "http://northwire.example/story/"},
	lang.Russian: {"http://slovar.example/st/", "http://vestnik.example/", "http://voprosy.example/o/", "http://besedka.example/tema/", "http://putevoditel.example/mesta/", "http://lenta-kraya.example/n/"},
	lang.Chinese: {"http://baike.example/item/", "http://chenbao.example/", "http://wenda.example/q/", "http://luntan.example/t/", "http://luyou.example/zhinan/", "http://zhuanzai.example/a/"},
}

// fact is a sentence about a thing, and maybe the question that it answers.
type fact struct{ on, question, text string }

// compose makes the pages about a thing. Each fact says by letters on which it
// stands: w for the article, n for the news, f for the questions, t for the
// thread, g for the guide.
func (s *site) compose(code lang.Code, nth int, r record) {
	words, at, name, date := s.phrases[code], places[code], r.fields["name"], r.fields["date"]
	var facts []fact
	for _, line := range r.lines {
		on, text, _ := strings.Cut(line, " ")
		f := fact{on: on, text: text}
		if q, a, ok := strings.Cut(text, " :: "); ok {
			f.question, f.text = q, a
		}
		facts = append(facts, f)
	}
	on := func(letter string) (out []fact) {
		for _, f := range facts {
			if strings.Contains(f.on, letter) {
				out = append(out, f)
			}
		}
		return out
	}
	add := func(kind Kind, url, title, date string, body []string) *page {
		p := &page{Page: Page{URL: url, Lang: code, Kind: kind, Title: title, Date: date, Author: words.field("authors", url)}, body: body}
		s.pages = append(s.pages, p)
		return p
	}

	article := append(paragraphs(code, on("w"), 2), words.fill("wiki", name, r.name, 3)...)
	wiki := add(Article, at[0]+r.name, name, shift(date, 1), article)
	body := append(paragraphs(code, on("n"), 1), words.fill("news", name, r.name, 3)...)
	news := add(News, at[1]+date[:4]+"/"+r.name, r.fields["news"], date, body)

	body = words.fill("faq", name, r.name, 1)
	for _, f := range on("f") {
		body = append(body, "# "+f.question, f.text)
	}
	add(FAQ, at[2]+r.name, strings.ReplaceAll(words.fields["faq"], "{name}", name), shift(date, 0), body)

	if posts := on("t"); len(posts) > 0 {
		chatter := words.fill("thread", name, r.name, 3)
		body = []string{"@" + chatter[0]}
		for _, f := range posts {
			body = append(body, "@"+f.text)
		}
		body = append(body, "@"+chatter[1], "@"+chatter[2])
		add(Forum, fmt.Sprintf("%s%d-%s", at[3], 1000+pick(r.name, 9000), r.name), strings.ReplaceAll(words.fields["thread"], "{name}", name), shift(date, 0), body)
	}
	if tips := on("g"); len(tips) > 0 {
		body = append(paragraphs(code, tips, 2), words.fill("guide", name, r.name, 2)...)
		add(Guide, at[4]+r.name, strings.ReplaceAll(words.fields["guide"], "{name}", name), shift(date, 0), body)
	}

	copied := slices.Clone(news.body[:len(news.body)-1])
	for i := range copied {
		copied[i] = words.swap(copied[i])
	}
	copied[0] = strings.ToUpper(hostWord(at[5])) + " — " + copied[0]
	add(Copy, at[5]+r.name, news.Title, date, copied).Author = ""
	switch nth % 4 {
	case 0:
		add(Mirror, wiki.URL+"?utm_source=newsletter&utm_medium=email", wiki.Title, wiki.Date, wiki.body).Author = wiki.Author
	case 2:
		add(Mirror, strings.Replace(wiki.URL, "http://", "http://m.", 1), wiki.Title, wiki.Date, wiki.body).Author = wiki.Author
	}
}

// paragraphs joins facts to paragraphs of n sentences.
func paragraphs(code lang.Code, facts []fact, n int) []string {
	space := " "
	if code == lang.Chinese {
		space = ""
	}
	var out []string
	for i, f := range facts {
		if i%n == 0 {
			out = append(out, f.text)
		} else {
			out[len(out)-1] += space + f.text
		}
	}
	return out
}

// shift is a date some years after another, but before Today.
func shift(date string, years int) string {
	year := int(date[0]-'0')*1000 + int(date[1]-'0')*100 + int(date[2]-'0')*10 + int(date[3]-'0')
	return fmt.Sprintf("%d%s", min(year+years, Today.Year()-1), date[4:])
}

// hostWord is the first word of the host of a URL.
func hostWord(url string) string {
	host := hostOf(url)
	word, _, _ := strings.Cut(strings.TrimPrefix(host, "m."), ".")
	return word
}
