package sources

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"hash/maphash"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"dossier/llm"
)

// secrets are texts of a run that no address may carry away: what the user said
// before, gave along or has in documents, and the names of the run. Whoever
// writes an address that is opened for a run could otherwise read them off the
// requests of their own server.
//
// An address that stands there as a whole was named by who said it, and carries
// nothing else: the sources of an earlier answer can be read again. So can their
// neighbours: the site and the folders of an address that was said carry nothing.
type secrets struct{ known func() *knownSecrets }

const (
	// pieceLetters is how many letters and digits in a row of a secret an
	// address has to have to be carrying it: four or five words. Pages about one
	// thing name it in their addresses alike: of pages found for one question one
	// in fifteen has an address with 32 letters in a row of another's text, one in
	// ten with 24, and nearly one in four with 16 (60 pairs of 15 pages, so roughly;
	// bench/eval prints the share with what is in use: address-refused).
	// What is worth stealing and shorter than a sentence is mostly no prose: see
	// keysIn.
	pieceLetters = 24
	// blockLetters is so few that a piece has a whole block of its text in it,
	// wherever it begins.
	blockLetters = pieceLetters / 2
	leastSecret  = 8 // letters of a secret that is worth hiding
	mostSecret   = 200_000
	mostTelling  = 2_000 // words of one text that are secrets by themselves
)

// knownSecrets are the texts as they are looked for: letters and digits, in
// lower case. What is kept is about as large as the texts.
type knownSecrets struct {
	// long are the texts of which an address may not have a piece and that may
	// name addresses, each on a line.
	long []byte
	// blocks are the places in long of the texts' blocks, which stand side by
	// side, each behind half a hash of the block; sorted.
	blocks []uint64
	seed   maphash.Seed
	whole  [][]byte // texts that are shorter than a piece
	said   []string // addresses in the texts, without their schemes
}

type privateKey struct{}

// withPrivate adds secrets to those of a corpus while one of its documents is
// read.
func withPrivate(ctx context.Context, s secrets) context.Context {
	return context.WithValue(ctx, privateKey{}, s)
}

func privateOf(ctx context.Context) secrets {
	if s, ok := ctx.Value(privateKey{}).(secrets); ok {
		return s
	}
	return noSecrets
}

var noSecrets = newSecrets()

// newSecrets makes texts secret. They are looked at when the first address is to
// be opened, and many runs open none.
func newSecrets(texts ...string) secrets {
	return secrets{sync.OnceValue(func() *knownSecrets { return knowSecrets(texts) })}
}

func knowSecrets(texts []string) *knownSecrets {
	k := &knownSecrets{seed: maphash.MakeSeed()}
	for _, text := range texts {
		for _, at := range saidAddress.FindAllStringIndex(text, mostTelling) {
			k.said = append(k.said, bareAddress(text[at[0]:at[1]]))
		}
		for _, word := range keysIn(text) {
			all, _ := appendFolded(nil, word, len(word))
			k.whole = append(k.whole, all)
		}
		from := len(k.long)
		all, letters := appendFolded(k.long, text, mostSecret)
		switch {
		case letters >= pieceLetters:
			k.blocks = slices.Grow(k.blocks, letters/blockLetters)
			for start := from; ; {
				end := after(all, start, blockLetters)
				if end < 0 {
					break
				}
				k.blocks = append(k.blocks, k.hash(all[start:end])|uint64(start))
				start = end
			}
			all = append(all, '\n')
			k.long = all
		case letters >= leastSecret && !strings.ContainsAny(strings.TrimSpace(text), " \n\t"):
			k.whole = append(k.whole, bytes.Clone(all[from:])) // a name, a key
		}
	}
	slices.Sort(k.blocks)
	return k
}

var saidAddress = regexp.MustCompile(`https?://[^\s<>()\[\]"'|]+`)

// bareAddress is an address as it is compared with others.
func bareAddress(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	return strings.TrimPrefix(address, "www.")
}

// beyond is what an address has behind the folders that it shares with one that
// was said.
func (k *knownSecrets) beyond(address string) string {
	bare := bareAddress(address)
	path, _, _ := strings.Cut(bare, "?")
	path, _, _ = strings.Cut(path, "#")
	shared := 0
	for _, said := range k.said {
		n := 0
		for n < len(path) && n < len(said) && path[n] == said[n] {
			n++
		}
		shared = max(shared, strings.LastIndexByte(path[:n], '/')+1)
	}
	return address[len(address)-len(bare)+shared:]
}

// keysIn returns the words of a text that are secrets by themselves, however
// short: numbers of accounts, cards and phones, keys, and addresses of mail.
// A date, a version or the number of a law is none.
func keysIn(text string) []string {
	var out []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("@._-+", r)
	}) {
		letters, digits, switches := 0, 0, 0
		var before rune // 'a' in letters, '0' in digits
		for _, r := range word {
			kind := before
			switch {
			case unicode.IsDigit(r):
				digits++
				kind = '0'
			case unicode.IsLetter(r):
				letters++
				kind = 'a'
			}
			if before != 0 && kind != before {
				switches++
			}
			before = kind
		}
		name, host, mail := strings.Cut(word, "@")
		mail = mail && name != "" && strings.Contains(host, ".") && letters+digits >= leastSecret
		number := letters == 0 && digits >= 9
		key := letters+digits >= 10 && switches >= 3
		if mail || number || key {
			if out = append(out, word); len(out) == mostTelling {
				break
			}
		}
	}
	return out
}

// hash of a block, in the upper half.
func (k *knownSecrets) hash(block []byte) uint64 {
	return maphash.Bytes(k.seed, block) &^ math.MaxUint32
}

// appendFolded appends the letters and digits of a text in lower case, as many
// as are wanted, and counts them.
func appendFolded(to []byte, text string, most int) (all []byte, letters int) {
	all = slices.Grow(to, min(len(text), most))
	for _, r := range text {
		if letters == most {
			break
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			all = utf8.AppendRune(all, unicode.ToLower(r))
			letters++
		}
	}
	return all, letters
}

// after is where so many letters from a place on end, -1 if there are fewer.
func after(text []byte, at, letters int) int {
	for ; letters > 0; letters-- {
		if at == len(text) {
			return -1
		}
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// Carries says whether an address is one that would not be opened where the
// texts are private.
func Carries(address string, private ...string) bool { return newSecrets(private...).in(address) }

// in says whether an address carries a secret, plainly or encoded.
func (s secrets) in(address string) bool {
	k := s.known()
	if len(k.long) == 0 && len(k.whole) == 0 || k.named(address) {
		return false
	}
	address = k.beyond(address)
	for range 3 { // encoded twice is still readable to who gets it
		if k.carried(address) {
			return true
		}
		plain, err := url.PathUnescape(strings.ReplaceAll(address, "+", "%20"))
		if err != nil || plain == address {
			break
		}
		address = plain
	}
	return k.carried(address)
}

// named says whether an address is one that was said.
func (k *knownSecrets) named(address string) bool {
	_, bare, ok := strings.Cut(address, "://")
	name, letters := appendFolded(nil, strings.TrimPrefix(bare, "www."), len(address))
	return ok && letters > 0 && bytes.Contains(k.long, name)
}

// carried looks at a text as it stands and at its words decoded.
func (k *knownSecrets) carried(text string) bool {
	if k.holds(text) {
		return true
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/?&=.#:;,", r) })
	for _, w := range words {
		if len(w) < leastSecret {
			continue
		}
		for _, decode := range []func(string) ([]byte, error){base64.RawURLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, hex.DecodeString} {
			if plain, err := decode(strings.TrimRight(w, "=")); err == nil && k.holds(string(plain)) {
				return true
			}
		}
	}
	return false
}

// holds says whether a text has a piece of a secret: somewhere in it there is a
// block then, and around it more of what stands there in the secret.
func (k *knownSecrets) holds(text string) bool {
	plain, letters := appendFolded(nil, text, len(text))
	if slices.ContainsFunc(k.whole, func(w []byte) bool { return bytes.Contains(plain, w) }) {
		return true
	}
	if letters < pieceLetters {
		return false
	}
	for start, end := 0, after(plain, 0, blockLetters); end >= 0; start, end = after(plain, start, 1), after(plain, end, 1) {
		hash := k.hash(plain[start:end])
		at, _ := slices.BinarySearch(k.blocks, hash)
		for ; at < len(k.blocks) && k.blocks[at]&^math.MaxUint32 == hash; at++ {
			if k.pieceAt(int(k.blocks[at]&math.MaxUint32), plain, start, end) {
				return true
			}
		}
	}
	return false
}

// pieceAt says whether what stands at a place of long is a block of a text, and
// with what is around it a piece.
func (k *knownSecrets) pieceAt(place int, text []byte, start, end int) bool {
	if !bytes.HasPrefix(k.long[place:], text[start:end]) {
		return false
	}
	same := blockLetters
	for a, b := text[:start], k.long[:place]; same < pieceLetters; same++ {
		r, size := utf8.DecodeLastRune(a)
		if q, _ := utf8.DecodeLastRune(b); size == 0 || r != q {
			break
		}
		a, b = a[:len(a)-size], b[:len(b)-size]
	}
	for a, b := text[end:], k.long[place+end-start:]; same < pieceLetters; same++ {
		r, size := utf8.DecodeRune(a)
		if q, _ := utf8.DecodeRune(b); size == 0 || r != q {
			break
		}
		a, b = a[size:], b[size:]
	}
	return same >= pieceLetters
}

// Said are the texts of a conversation that no address may carry. A short
// question is none: it reads like the title of a page, and stands in addresses.
func Said(history []llm.Message) []string {
	const short = 200 // characters
	var out []string
	for _, m := range history {
		if m.Role != llm.RoleUser || utf8.RuneCountInString(m.Content) > short {
			out = append(out, m.Content)
		}
	}
	return out
}
