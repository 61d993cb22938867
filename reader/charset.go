package reader

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// guessBytes is how much of a text its charset is guessed from.
const guessBytes = 64 << 10

// decode makes a text UTF-8. A byte order mark is believed, then the bytes
// themselves if they are UTF-8, then what the page or the server says, then a
// guess.
func decode(body []byte, contentType string, markup bool) string {
	if e, skip := byOrderMark(body); e != nil {
		return convert(e, body[skip:])
	} else if skip > 0 {
		return valid(body[skip:])
	}
	if utf8.Valid(cutRune(body)) {
		return valid(body)
	}
	var declared encoding.Encoding
	certain := false
	if markup || strings.Contains(strings.ToLower(contentType), "charset") {
		var name string
		declared, name, certain = charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
		if certain && name == "utf-8" { // with some bytes that are not
			return valid(body)
		}
		// What a page says of itself counts as uncertain there, and as
		// windows-1252 if it says nothing.
		certain = certain || name != "windows-1252" && name != "utf-8"
	}
	if certain {
		if s := convert(declared, body); !garbled(s) {
			return s
		}
	}
	if e := guess(body); e != nil {
		return convert(e, body)
	}
	e, _ := htmlindex.Get("windows-1252")
	return convert(e, body)
}

func byOrderMark(body []byte) (encoding.Encoding, int) {
	switch {
	case bytes.HasPrefix(body, []byte{0xef, 0xbb, 0xbf}):
		return nil, 3
	case bytes.HasPrefix(body, []byte{0xff, 0xfe}):
		e, _ := htmlindex.Get("utf-16le")
		return e, 2
	case bytes.HasPrefix(body, []byte{0xfe, 0xff}):
		e, _ := htmlindex.Get("utf-16be")
		return e, 2
	}
	return nil, 0
}

// cutRune drops a character that the end of the data cut through.
func cutRune(b []byte) []byte {
	for i := 1; i <= min(3, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func convert(e encoding.Encoding, b []byte) string {
	out, _, err := transform.Bytes(e.NewDecoder(), b)
	if err != nil {
		return valid(b)
	}
	return string(out)
}

// garbled says that a text was not in the charset it was read in.
func garbled(s string) bool {
	bad := strings.Count(s, "\uFFFD")
	return bad > 3 && bad*100 > utf8.RuneCountInString(s)
}

// guess finds the charset of a text by its letters, nil if it cannot.
func guess(body []byte) encoding.Encoding {
	r := chardet.Detect(body[:min(len(body), guessBytes)])
	name := strings.ToLower(r.Encoding)
	switch name {
	case "gb2312":
		name = "gb18030"
	case "iso-8859-1", "iso-8859-9", "iso-8859-15", "ascii", "":
		// The Western ones look alike: the commonest is right more often than a
		// guess.
		return cyrillic(body[:min(len(body), guessBytes)])
	}
	e, err := htmlindex.Get(name)
	if err != nil || r.Confidence < 0.3 {
		return cyrillic(body[:min(len(body), guessBytes)])
	}
	return e
}

// cyrillic returns the charset in which a text is Russian, nil if it is none.
// A text in one of them consists of letters beyond ASCII, which no Western one
// does, and in the right one the common letters are common and small: in
// another they are rare, capital or no letters.
func cyrillic(body []byte) encoding.Encoding {
	letters, high := 0, 0
	for _, c := range body {
		switch {
		case c >= utf8.RuneSelf:
			letters, high = letters+1, high+1
		case letter(c):
			letters++
		}
	}
	if high < 8 || high*2 < letters {
		return nil
	}
	var best encoding.Encoding
	most := high * 2 / 5
	for _, name := range []string{"windows-1251", "koi8-r", "ibm866"} {
		e, _ := htmlindex.Get(name)
		common := 0
		for _, r := range convert(e, body) {
			if strings.ContainsRune("оеаинтсрвлкмдпу", r) {
				common++
			}
		}
		if common > most {
			best, most = e, common
		}
	}
	return best
}
