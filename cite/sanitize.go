package cite

import (
	"regexp"
	"strings"
)

// domains are the ends of host names by which a bare address without a scheme
// is told from "Node.js/Deno" and the like.
const domains = `(?:com|org|net|info|biz|io|ai|co|me|app|dev|xyz|top|site|online|shop|club|live|link|page|gov|edu|mil|int|` +
	`ru|su|рф|by|ua|kz|cn|hk|tw|jp|kr|in|id|uk|us|eu|de|fr|es|it|nl|pl|cz|se|no|fi|dk|ch|at|be|pt|gr|tr|il|ir|br|mx|ar|au|nz|ca|za|tk|ml|ga|cf|gq|cc|tv|ws|to|ly|gl|sh|gg)`

// machine is a host by its number, and this machine. With a path it is an
// address; 10.0.0.0/8 is a network.
const machine = `(?:\d{1,3}(?:\.\d{1,3}){3}|localhost\b)`

// What an address without a scheme goes on with: after what can be nothing
// else, and after what is only likely one.
const (
	rest   = `[^\s<>"'“”«»()（）、。，；\[\]]`
	likely = `[^\s<>"'“”«»「」()（）、。，；\[\]]`
)

var (
	htmlComment = pattern(`(?s)<!--.*?(?:-->|$)`)
	htmlHidden  = pattern(`(?is)<(?:script|style|iframe|object|svg)\b.*?(?:</(?:script|style|iframe|object|svg)\s*>|$)`)
	htmlTag     = pattern(`</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>`)
	autoLink    = pattern(`<(?:[a-zA-Z][a-zA-Z0-9+.-]*:[^<>\s]*|[^<>\s@]+@[^<>\s@]+)>`)
	definition  = pattern(`(?m)^[ \t>]{0,8}\[[^\]\n]+\]:[^\n]*(?:\n|$)`)
	image       = pattern(`!\[[^\]\n]*\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\]\n]*\])?`)
	inlineLink  = pattern(`\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\((?:[^()\n]|\([^()\n]*\))*\)`)
	schemed     = pattern(`(?i)(?:\b[a-z][a-z0-9+.-]{1,20}:(?://|\\\\)|\b(?:mailto|javascript|data|vbscript|tel|blob):(?:[^\s\d]|\d))[^\s<>"'“”«»「」『』【】()（）、。，；\[\]]*(?:\([^\s()]*\)[^\s<>"'()（）、。，；\[\]]*)*`)
	hosted      = pattern(`(?i)(?://(?:(?:[\p{L}0-9-]+\.)+\p{L}{2,}|` + machine + `|\[[0-9a-f:.]+\])` + rest + `*|\bwww\.` + rest + `+|` +
		`(?:[\p{L}0-9-]+\.)+` + domains + `(?::\d+)?/` + likely + `*|\b` + machine + `(?::\d+/|/[^\s<>"'“”«»「」()（）、。，；\[\]/]*[\p{L}?=%])` + likely + `*)`)
	emptied     = pattern(`[ \t]?(?:\([ \t,;:]*\)|（[ ，；：]*）|<[ \t]*>)`)
	spaceBefore = pattern(`[ \t]+([.,;:!?。，；：！？])`)
)

// Sanitize takes out of an answer everything by which a model could point
// somewhere: links keep their text, images, addresses, HTML and the definitions
// of references and footnotes go. A list of sources at the end goes too, for
// the numbered list is made by code.
func Sanitize(markdown string) string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(markdown, "\uFFFD"))
	// What one pass uncovers (a link inside a link's text) the next one takes.
	for range maxPasses {
		before := text
		text = sanitizeOnce(text)
		if text == before {
			break
		}
	}
	// What is left of the syntax is broken or nested on purpose. Another
	// parser may read it otherwise, so it is taken apart.
	text = strings.ReplaceAll(text, "](", "] (")
	if strings.Contains(text, "<") {
		text = openTag().ReplaceAllString(text, "< $1")
	}
	if strings.Contains(text, "]:") {
		text = splitLabel().ReplaceAllString(text, "$1] :")
	}
	if strings.Contains(text, ":/") || strings.Contains(text, `:\`) {
		text = addressStart().ReplaceAllString(text, "$1: ")
	}
	return text
}

const maxPasses = 16

var (
	openTag      = pattern(`<([a-zA-Z/!?])`)
	splitLabel   = pattern(`(?m)^([^\[\]\n]*)\]:`) // a definition whose label began on a line before
	addressStart = pattern(`(?i)\b([a-z][a-z0-9+.-]*):(?://+|\\\\)`)
)

// sanitizeOnce tries only those patterns that can match: most texts have none of
// the characters, and the patterns are slow.
func sanitizeOnce(text string) string {
	if strings.Contains(text, "<") {
		text = htmlComment().ReplaceAllString(text, "")
		text = htmlHidden().ReplaceAllString(text, "")
	}
	text = withoutSourceList(text)
	if strings.Contains(text, "<") {
		text = autoLink().ReplaceAllString(text, "")
		text = htmlTag().ReplaceAllString(text, "")
	}
	if strings.Contains(text, "]:") {
		text = definition().ReplaceAllString(text, "")
	}
	if strings.Contains(text, "![") {
		text = image().ReplaceAllString(text, "")
	}
	if strings.Contains(text, "](") {
		text = inlineLink().ReplaceAllStringFunc(text, func(link string) string {
			label := inlineLink().FindStringSubmatch(link)[1]
			if numeric().MatchString(label) {
				return "[" + label + "]"
			}
			return label
		})
	}
	if strings.Contains(text, ":") {
		text = replaceAddresses(text, schemed())
	}
	if strings.Contains(text, "/") || containsFold(text, "www.") {
		text = replaceAddresses(text, hosted())
	}
	return text
}

// containsFold says whether a text has a word of ASCII letters, in any case. What
// (?i) folds further (ſ, K) is in no word that is looked for.
func containsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if (text[i]|0x20) == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// replaceAddresses removes addresses but keeps the punctuation of the sentence
// around them in order.
func replaceAddresses(text string, re *regexp.Regexp) string {
	found := re.FindAllStringIndex(text, -1)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, at := range found {
		address := text[at[0]:at[1]]
		kept := len(strings.TrimRight(address, ".,;:!?…*_`|"))
		b.WriteString(text[last:at[0]])
		last = at[0] + max(kept, 1)
	}
	b.WriteString(text[last:])
	text = emptied().ReplaceAllString(b.String(), "")
	return spaceBefore().ReplaceAllString(text, "$1")
}

var (
	sourceHeading = pattern(`(?i)^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?[ \t]*(?:\d+[.)][ \t]*)?(?:sources?|references?|bibliography|works cited|citations|links|источники|список источников|список литературы|литература|ссылки|использованные источники|参考文献|参考资料|資料來源|资料来源|来源|來源|引用来源|参考来源|參考文獻|參考資料)[ \t]*[:：]?[ \t]*(?:\*\*|__)?[ \t]*[:：]?[ \t]*$`)
	anyHeading    = pattern(`^[ \t]{0,3}#{1,6}[ \t]`)
	listLine      = pattern(`^[ \t]*(?:[-*+•][ \t]|\d{1,3}[.)、][ \t]?|[\[【［]\^?\d{1,3}[\]】］])`)
)

// withoutSourceList removes a heading like "Sources" and the list under it.
func withoutSourceList(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	fence, dropping := false, false
	for i, line := range lines {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			fence = !fence
		}
		switch {
		case fence:
			dropping = false
		case sourceHeading().MatchString(strings.TrimRight(line, "\n")) && listFollows(lines[i+1:]):
			dropping = true
			continue
		case dropping && bare != "" && !listLine().MatchString(line) && !strings.HasPrefix(line, "  "):
			dropping = false
		}
		if !dropping {
			out.WriteString(line)
		}
	}
	return out.String()
}

func listFollows(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return listLine().MatchString(line)
		}
	}
	return true
}
