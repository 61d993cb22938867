package arxiv

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// terms turns what somebody typed into conditions of search_query, one for each
// word and each quoted phrase. What is neither letter nor digit means something
// in that language or nothing in the index, so a word that it stands in becomes
// a phrase of its parts.
func terms(typed string) []string {
	var out []string
	pieces := strings.Split(typed, `"`)
	for i, piece := range pieces {
		words := strings.Fields(piece)
		if i%2 == 1 && i < len(pieces)-1 { // a quote that is never closed is none
			words = []string{piece}
		}
		for _, word := range words {
			parts := strings.FieldsFunc(word, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
			})
			switch len(parts) {
			case 0:
				continue
			case 1:
				out = append(out, "all:"+operand(parts[0]))
			default:
				out = append(out, `all:"`+strings.Join(parts, " ")+`"`)
			}
		}
	}
	return slices.Compact(out)
}

// operand keeps a word from being an operator.
func operand(word string) string {
	switch word {
	case "AND", "OR", "NOT", "ANDNOT", "TO":
		return strings.ToLower(word)
	}
	return word
}

// dated adds the bounds of submittedDate, which wants both, to the minute and
// in GMT.
func dated(query string, since, until time.Time) string {
	if since.IsZero() && until.IsZero() {
		return query
	}
	const minute = "200601021504"
	from, to := "199101010000", "299912312359"
	if !since.IsZero() {
		from = since.UTC().Format(minute)
	}
	if !until.IsZero() {
		to = until.UTC().Format(minute)
	}
	return "(" + query + ") AND submittedDate:[" + from + " TO " + to + "]"
}

var (
	// number is a paper's identifier: 2301.00001v2, or of before April 2007
	// hep-th/9901001 and math.GT/0309136.
	number = `(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(v\d+)?`
	inPath = regexp.MustCompile(`^/(?:abs|pdf|html|format|ps|src|e-print)/` + number + `(?:\.pdf|\.ps|\.gz)*/?$`)
	inDOI  = regexp.MustCompile(`(?i)^/10\.48550/arxiv\.` + `(.+)$`)
	whole  = regexp.MustCompile(`^` + number + `$`)
)

// paper returns the identifier in a URL of arXiv, of its mirrors or of its DOIs.
func paper(page string) (string, bool) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case host == "arxiv.org" || strings.HasSuffix(host, ".arxiv.org") || host == "ar5iv.org" || host == "xxx.lanl.gov":
		if m := inPath.FindStringSubmatch(u.Path); m != nil {
			return m[1] + m[2], true
		}
	case host == "doi.org" || host == "dx.doi.org":
		if m := inDOI.FindStringSubmatch(u.Path); m != nil && whole.MatchString(m[1]) {
			return m[1], true
		}
	}
	return "", false
}
