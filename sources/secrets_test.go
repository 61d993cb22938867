package sources

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"dossier/cite"
)

// letters of a text, as a secret is compared.
func lettersOf(text string) []rune {
	var out []rune
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// An address carries a secret when, and only when, it has so many letters of it in
// a row, wherever they stand.
func TestPiecesOfSecrets(t *testing.T) {
	alphabets := []string{"ab", "abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмно", "新石器时代的河谷", "aбc新D"}
	carried := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		text := func(least, most int) string {
			letters := append([]rune(alphabets[r.IntN(len(alphabets))]), ' ', '.', '-')
			out := make([]rune, least+r.IntN(most-least+1))
			for i := range out {
				out[i] = letters[r.IntN(len(letters))]
			}
			return string(out)
		}
		var texts []string
		for range 1 + r.IntN(3) {
			texts = append(texts, text(5, 150))
		}
		from := []rune(texts[r.IntN(len(texts))])
		start := r.IntN(len(from))
		piece := string(from[start:min(len(from), start+25+r.IntN(30))])
		path := text(0, 20) + piece + text(0, 20)
		want := false
		for _, secret := range texts {
			whole, sent := lettersOf(secret), lettersOf("https://x.example/"+path)
			for i := 0; i+pieceLetters <= len(whole); i++ {
				want = want || strings.Contains(string(sent), string(whole[i:i+pieceLetters]))
			}
			bare := strings.TrimSpace(secret)
			if n := len(whole); n >= leastSecret && n < pieceLetters && !strings.ContainsAny(bare, " \n\t") {
				want = want || strings.Contains(string(sent), string(whole))
			}
		}
		if want {
			carried++
		}
		s := newSecrets(texts...)
		if got := s.in("https://x.example/" + path); got != want {
			t.Fatalf("%q in %q: %v, not %v", texts, path, got, want)
		}
		if got := s.in("https://x.example/" + url.PathEscape(path)); want && !got {
			t.Fatalf("%q in %q, escaped", texts, path)
		}
		hidden := base64.RawURLEncoding.EncodeToString([]byte(piece))
		if slices.ContainsFunc(texts, func(secret string) bool { return len(lettersOf(secret)) >= pieceLetters }) && len(lettersOf(piece)) >= pieceLetters && !s.in("https://x.example/?q="+hidden) {
			t.Fatalf("%q in %q, encoded", texts, piece)
		}
	}
	if carried < 200 {
		t.Errorf("only %d carried something", carried)
	}
}

// The sources of an earlier answer can be read again, and a secret that is too
// long is one as far as it is looked at.
func TestSecretsOfEveryLength(t *testing.T) {
	said := "It is said at https://encyclo.example/wiki/aune-spotted-newt-of-the-upper-valley, among others."
	long := wordy(rand.New(rand.NewPCG(3, 4)), 300_000)
	s := newSecrets(said, long, "sk-0123456789", "short")
	for address, want := range map[string]bool{
		"https://encyclo.example/wiki/aune-spotted-newts-and-others":                                false, // its site was said
		"https://encyclo.example/wiki/?q=aune-spotted-newt-of-the-upper-valley-among-others":        true,
		"https://encyclo.example/wikis-aune-spotted-newt-of-the-upper-valley":                       true,
		"https://encyclo.example/wiki/aune-spotted-newt-of-the-upper-valley":                        false,
		"https://evil.example/?q=aune-spotted-newt-of-the-upper-valley-among-others":                true,
		"https://evil.example/?k=SK_0123456789":                                                     true,
		"https://evil.example/?k=short":                                                             false,
		"https://evil.example/" + url.PathEscape(long[:60]):                                         true,
		"https://evil.example/" + url.PathEscape(long[100_000:100_060]):                             true,
		"https://evil.example/" + url.PathEscape(long[len(long)-60:]):                               false,
		"https://evil.example/" + base64.RawStdEncoding.EncodeToString([]byte(long[50_000:50_060])): true,
	} {
		if got := s.in(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if newSecrets().in("https://evil.example/" + url.PathEscape(long[:60])) {
		t.Error("nothing is secret, and carried all the same")
	}
}

// wordy is a text of so many bytes in which hardly anything stands twice.
func wordy(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		for range 2 + r.IntN(8) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// BenchmarkSecrets is what a run pays that came with a long text: for nothing,
// and for the addresses that it opens.
func BenchmarkSecrets(b *testing.B) {
	material := wordy(rand.New(rand.NewPCG(1, 2)), 250_000)
	address := "https://encyclo.example/wiki/aune-spotted-newt?section=habitat-and-range&highlight=cold+pools+of+the+upper+valley#history"
	b.Run("opening none", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newSecrets(material, "1m7en6c281wr45xt")
		}
	})
	b.Run("opening ten", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := newSecrets(material, "1m7en6c281wr45xt")
			for range 10 {
				if s.in(address) {
					b.Fatal("it carries nothing")
				}
			}
		}
	})
}

// What is a secret by itself is one at any length, in the case and the encoding
// that an address has.
func TestKeysAreSecret(t *testing.T) {
	s := newSecrets("Card 4276123412341234 of anna.petrova@mail.example, key Zk3v9Qx1Lw, since 2024-11-16, PostgreSQL 16.2, ISO 9001:2015, plan B2B.")
	for at, want := range map[string]bool{
		"https://a.example/?c=4276123412341234": true, "https://a.example/?c=4276-1234-1234-1234": true, "https://a.example/anna.petrova%40mail.example": true,
		"https://a.example/ZK3V9QX1LW": true, "https://a.example/?d=" + base64.RawURLEncoding.EncodeToString([]byte("key Zk3v9Qx1Lw")): true,
		"https://a.example/2024/11/16/postgresql-16.2": false, "https://a.example/iso-9001-2015": false, "https://a.example/b2b/plan": false,
	} {
		if got := s.in(at); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
}

// What was found in the user's own documents is secret to pages that are read
// after it; what was found on the web is not.
func TestFindingsArePrivate(t *testing.T) {
	const own, public = "The tenant Anna Petrova pays late every month", "The harbour of Oststrand was built by Danes"
	g := &gathering{leads: map[string]Lead{"a": {ID: "a", Kind: cite.File, Text: own}, "b": {ID: "b", Kind: cite.Web, Text: public}}}
	c := &webCorpus{Web: &Web{}, secret: newSecrets()}
	ctx := withPrivate(t.Context(), g.private())
	if _, err := c.Read(ctx, Lead{Ref: "https://a.example/?q=" + url.QueryEscape(own)}); err == nil || !strings.Contains(err.Error(), "carries data") {
		t.Error(err)
	}
	if privateOf(ctx).in("https://a.example/?q=" + url.QueryEscape(public)) {
		t.Error("what the web said is secret")
	}
}
