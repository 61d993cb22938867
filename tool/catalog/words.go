package catalog

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"dossier/index"
	"dossier/lang"
)

// spread puts spaces between the words of a name: getWeatherByCity,
// get_weather-by.city and HTTPServer2 become words.
func spread(name string) string {
	var b strings.Builder
	b.Grow(len(name) + 8)
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
			continue
		case i == 0:
		case unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])),
			unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1]),
			unicode.IsDigit(r) && unicode.IsLetter(runes[i-1]),
			unicode.IsLower(r) && unicode.IsDigit(runes[i-1]):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tokens are the words of a text. Latin words are stemmed as English ones,
// whatever language they are of: catalogs are written in English, and what a
// query and a description have in common stays common.
func tokens(text string) []index.Token { return index.Tokens(text, lang.English) }

// manner says what a word is for in a request.
type manner uint8

const (
	_ manner = iota // most words tell what is wanted
	// vague words are in requests of every kind and in tools of every kind.
	vague
	// polite words only ask.
	polite
)

// Words by their manner, beside the function words that package index knows.
const (
	politeWords = `please want need like help know looking interested assist provide wondering hey hi hello thanks thank
		try let make sure able really just now currently would could should can im ive id lets somebody someone something anything
		good great best different specific various certain particular new use using based given also way thing
		пожалуйста хочу нужно нужен помоги мне подскажи спасибо привет 帮我 请帮 我想 我要 需要`
	vagueWords = `suggest recommend recommendation suggestion idea tip advice curious detail detailed comprehensive relevant related
		available possible important effective suitable helpful useful interesting popular several multiple entire whole overall
		world global globally around top high highest low lowest large big small long short general common main major
		understand explain learn discover share ensure include including such well many lot kind sort type part
		today year month week day time recent latest current upcoming last next first
		people person friend colleague family team anyone everyone myself
		experience opportunity option choice aspect factor topic subject area field range variety example
		improve enhance create gather wish love enjoy plan consider decide start begin get give show tell take bring come go see look
		user result information data request question answer`
	// What the descriptions of tools are made of says little of which tool it
	// is: it counts as vague when it is asked whether one fits at all.
	toolWords = `set find search retrieve fetch calculate compute make generate list add update delete remove check
		return specified value number id name string format default optional use used required perform allow tool function api
		calculator predict estimate determine analyze compare convert send date location city country state place order item`
)

var (
	manners = sync.OnceValue(func() map[string]manner {
		m := map[string]manner{}
		for _, t := range tokens(vagueWords) {
			m[t.Term] = vague
		}
		for _, t := range tokens(politeWords) {
			m[t.Term] = polite
		}
		return m
	})
	toolish = sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for _, t := range tokens(toolWords) {
			m[t.Term] = true
		}
		return m
	})
)

var (
	address = regexp.MustCompile(`https?://[^\s"'<>]+`)
	file    = regexp.MustCompile(`(?:^|[\s"'(])(?:(?:~|\.{1,2})?/[\w.\-/~]+|[\w\-]+\.(?:pdf|docx?|xlsx?|pptx?|csv|md|txt|json|html?|png|jpe?g|svg|mp3|mp4|wav|py|js|go|zip|xml|ya?ml))["']?`)
)

// plain says in words what addresses and the names of files in a query are;
// what they are called is quoted.
func plain(query string) string {
	query = address.ReplaceAllString(query, " url webpage ")
	return file.ReplaceAllStringFunc(query, func(path string) string {
		path = strings.Trim(path, " \t\n\"'(")
		name, kind, found := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".")
		if !found {
			return ` folder directory "` + path + `" `
		}
		return " file " + kind + ` "` + name + `" `
	})
}

var closing = map[rune]rune{'"': '"', '“': '”', '«': '»', '「': '」', '\'': '\'', '‘': '’', '`': '`'}

// quoted returns the parts of a text that stand in quotation marks: values,
// more than words about what is wanted.
func quoted(text string) []lang.Span {
	var spans []lang.Span
	var open rune
	start, before := 0, ' '
	for i, r := range text {
		switch {
		case open == 0:
			if _, opens := closing[r]; opens && !unicode.IsLetter(before) && !unicode.IsDigit(before) {
				open, start = r, i
			}
		case r == closing[open]:
			// An apostrophe inside a word closes nothing.
			if after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):]); r != '\'' && r != '’' || !unicode.IsLetter(after) {
				spans = append(spans, lang.Span{Start: start, End: i})
				open = 0
			}
		}
		before = r
	}
	return spans
}

// named says whether the word at a place begins with a capital inside a
// sentence, as names do.
func named(text string, at int) bool {
	if r, _ := utf8.DecodeRuneInString(text[at:]); !unicode.IsUpper(r) {
		return false
	}
	before := strings.TrimRightFunc(text[:at], unicode.IsSpace)
	return before != "" && !strings.ContainsAny(before[len(before)-1:], ".!?:\n")
}

var breaks = strings.NewReplacer(" and ", "\x00", " then ", "\x00", ", ", "\x00", "; ", "\x00", "，", "\x00", "；", "\x00", "、", "\x00", " и ", "\x00", " затем ", "\x00")

const (
	clauseWords = 4  // fewer join the next clause
	mostClauses = 24 // of a query; more are left to the query as a whole
)

// clauses splits a query into what it asks for one after another.
func clauses(query string) []string {
	var all []string
	for _, s := range lang.Sentences(query) {
		begun := ""
		for part := range strings.SplitSeq(breaks.Replace(s.In(query)), "\x00") {
			if begun != "" {
				part = begun + " , " + part
			}
			if begun = part; lang.Words(begun) >= clauseWords {
				all = append(all, begun)
				begun = ""
			}
		}
		if begun != "" {
			all = append(all, begun)
		}
		if len(all) >= mostClauses {
			return all[:mostClauses]
		}
	}
	return all
}
