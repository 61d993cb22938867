package cite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dossier/event"
	"dossier/lang"
)

// Options are the settings of Verify. The zero value works.
type Options struct {
	// MinSupport is the score from which a claim that the checker calls
	// supported or partial counts as verified (DefaultMinSupport). A
	// contradicted one never does.
	MinSupport float64
	// Drop removes claims that fail instead of marking them.
	Drop bool
	// Mark is appended to claims that fail ("[?]").
	Mark string
	// Passages is how many passages of each cited source the checker sees (4).
	Passages int
	// Read returns the spans of a source that the answer was written from, the
	// best first. Where fewer passages share words with a claim than the
	// checker may see it gets these too: a claim in another language than its
	// source shares hardly any. Nil for none.
	Read func(source int) []lang.Span
	// Known is all that was read: a claim of which Vocabulary.Unread holds fails,
	// whatever the checker says. Nil takes the checker's word.
	Known func() *Vocabulary
	// Trust returns what is known of a claim already, and whether that is to stand
	// without another look. Nil looks at all.
	Trust func(Claim) (Checked, bool)
	// Uncited are the sources that a claim which cites none is held against: those
	// that bear it out it cites then. Nil for none: such a claim fails.
	Uncited []int
}

const (
	// DefaultMinSupport is the default of Options.MinSupport.
	DefaultMinSupport = supportedFrom
	defaultMark       = "[?]"
	defaultPassages   = 4
	// quotedShare is the share of a claim's letters within quotations that
	// were found from which on the claim is the quotation.
	quotedShare = 0.6
	// verbatim is how many letters a claim needs to be found by itself.
	verbatim = 16
)

// Checked is a claim with what was found out about it.
type Checked struct {
	Claim
	Verdict Verdict `json:"verdict"`
	Score   float64 `json:"score"`
	// Verified says that a passage bears the claim out.
	Verified bool `json:"verified"`
	// Passages are the quotations found, or the passage that supports the
	// claim best.
	Passages []Passage `json:"passages,omitempty"`
	// Unknown are numbers that it cites and no source has.
	Unknown []int `json:"unknown,omitempty"`
	// Missing are quotations that stand in no snapshot cited.
	Missing []string `json:"missing,omitempty"`
}

// Result is a verified answer.
type Result struct {
	// Text is the answer to deliver: sanitized, citing only sources that
	// exist, with claims that failed marked or dropped.
	Text   string    `json:"text"`
	Claims []Checked `json:"claims"`
	// Coverage is Covered ÷ len(Claims): claims with a verified passage by
	// claims. It is 0 for an answer without claims.
	Coverage float64 `json:"coverage"`
	Covered  int     `json:"covered"`
	Dropped  int     `json:"dropped,omitempty"`
	Marked   int     `json:"marked,omitempty"`
	// Independent counts the sources behind verified claims, copies of one
	// article once.
	Independent int `json:"independent"`
}

// Failing returns the claims that a rewrite has to mend.
func (r *Result) Failing() []Checked {
	var out []Checked
	for _, c := range r.Claims {
		if !c.Verified {
			out = append(out, c)
		}
	}
	return out
}

// Event is the verdict as the run's log tells it.
func (c Checked) Event() event.CitationVerified {
	verdict := c.Verdict
	switch {
	case c.Verified:
		verdict = Supported
	case verdict == Supported, verdict == Partial, verdict == Contradicted:
		verdict = Unsupported
	}
	return event.CitationVerified{Claim: c.Text, Sources: c.Sources, Verdict: string(verdict), Score: c.Score}
}

// Event is the coverage as the run's log tells it.
func (r *Result) Event() event.Coverage {
	return event.Coverage{Of: "claims", Covered: r.Covered, Total: len(r.Claims), Share: r.Coverage}
}

// Verify checks every claim of an answer against the snapshots of the sources
// that it cites. An error is the checker's or the context's; a claim that
// fails is a result.
func Verify(ctx context.Context, answer string, ledger *Ledger, snapshots Snapshots, checker Checker, opts Options) (*Result, error) {
	if opts.MinSupport == 0 {
		opts.MinSupport = DefaultMinSupport
	}
	if opts.Mark == "" {
		opts.Mark = defaultMark
	}
	if opts.Passages == 0 {
		opts.Passages = defaultPassages
	}
	text := Sanitize(answer)
	v := verifier{ledger, snapshots, checker, opts}
	r := &Result{}
	var behind []int
	for _, c := range Split(text) {
		checked, err := v.check(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("cite: verify %q: %w", short(c.Text), err)
		}
		switch {
		case checked.Verified:
			r.Covered++
			for _, p := range checked.Passages {
				behind = append(behind, p.Source)
			}
		case opts.Drop:
			r.Dropped++
		default:
			r.Marked++
		}
		r.Claims = append(r.Claims, checked)
	}
	if len(r.Claims) > 0 {
		r.Coverage = float64(r.Covered) / float64(len(r.Claims))
	}
	r.Independent = ledger.Independent(behind)
	r.Text = v.render(text, r.Claims)
	return r, nil
}

// VerifyQuotes checks an answer that consists of passages quoted as they are,
// which needs no reading of its text. Each passage is a claim; it is verified
// if its span lies in the snapshot of its source and is found there again.
func VerifyQuotes(ledger *Ledger, snapshots Snapshots, passages []Passage) *Result {
	r := &Result{}
	var behind []int
	for _, p := range passages {
		c := Checked{Claim: Claim{Sources: []int{p.Source}}, Verdict: UnknownSource}
		source, ok := ledger.Source(p.Source)
		snap := snapshots[source.Snapshot]
		switch {
		case !ok:
			c.Sources, c.Unknown = nil, []int{p.Source}
		case snap != nil:
			c.Verdict = Misquoted
			quote, err := p.Quote(snap)
			if err != nil {
				break
			}
			c.Text, c.Quotes = quote, []string{quote}
			if _, found := snap.Find(quote); found {
				c.Verdict, c.Score, c.Verified, c.Passages = Supported, 1, true, []Passage{p}
				behind = append(behind, p.Source)
				r.Covered++
			}
		}
		r.Claims = append(r.Claims, c)
	}
	if len(r.Claims) > 0 {
		r.Coverage = float64(r.Covered) / float64(len(r.Claims))
	}
	r.Independent = ledger.Independent(behind)
	return r
}

func short(text string) string {
	runes := []rune(text)
	if len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}

type verifier struct {
	ledger    *Ledger
	snapshots Snapshots
	checker   Checker
	opts      Options
}

// read is a source with its snapshot.
type read struct {
	number int
	snap   *Snapshot
}

func (v *verifier) check(ctx context.Context, c Claim) (Checked, error) {
	if v.opts.Trust != nil {
		if known, ok := v.opts.Trust(c); ok {
			known.Start, known.End, known.Inherited = c.Start, c.End, c.Inherited
			return known, nil
		}
	}
	if len(c.Sources) > 0 || len(v.opts.Uncited) == 0 {
		return v.held(ctx, c)
	}
	bare := c
	c.Sources = v.opts.Uncited
	out, err := v.held(ctx, c)
	if err != nil || !out.Verified {
		return Checked{Claim: bare, Verdict: Unsupported, Score: out.Score}, err
	}
	out.Sources, out.Inherited = nil, true
	for _, p := range out.Passages {
		if !slices.Contains(out.Sources, p.Source) {
			out.Sources = append(out.Sources, p.Source)
		}
	}
	return out, nil
}

// held holds a claim against the sources that it cites.
func (v *verifier) held(ctx context.Context, c Claim) (Checked, error) {
	out := Checked{Claim: c, Verdict: UnknownSource}
	var sources []read
	out.Sources = nil
	for _, n := range c.Sources {
		s, ok := v.ledger.Source(n)
		if !ok {
			out.Unknown = append(out.Unknown, n)
			continue
		}
		out.Sources = append(out.Sources, n)
		if snap := v.snapshots[s.Snapshot]; snap != nil {
			sources = append(sources, read{n, snap})
		}
	}
	if len(sources) == 0 {
		return out, nil
	}
	quoted := 0
	for _, q := range c.Quotes {
		found := false
		for _, s := range sources {
			spans, ok := s.snap.Find(q)
			if !ok {
				continue
			}
			found = true
			quoted += letters(q)
			for _, span := range spans {
				out.Passages = append(out.Passages, s.snap.PassageAt(s.number, span))
			}
			break
		}
		if !found {
			out.Missing = append(out.Missing, q)
		}
	}
	if len(out.Missing) > 0 {
		out.Verdict, out.Passages = Misquoted, nil
		return out, nil
	}
	if quoted > 0 && float64(quoted) >= quotedShare*float64(letters(c.Text)) {
		out.Verdict, out.Score, out.Verified = Supported, 1, true
		return out, nil
	}
	// A claim that is itself a sentence of its source needs no opinion.
	for _, s := range sources {
		if found, ok := s.snap.Find(c.Text); ok && len(found) == 1 && letters(c.Text) >= verbatim {
			out.Passages = append(out.Passages, s.snap.PassageAt(s.number, found[0]))
			out.Verdict, out.Score, out.Verified = Supported, 1, true
			return out, nil
		}
	}
	var spans []Passage
	var texts []string
	for _, s := range sources {
		for _, span := range v.candidates(s, c.Text) {
			spans = append(spans, s.snap.PassageAt(s.number, span))
			texts = append(texts, span.In(s.snap.Text))
		}
	}
	if len(texts) == 0 {
		out.Verdict = Unsupported
		return out, nil
	}
	support, err := v.checker.Check(ctx, c.Text, texts)
	if err != nil {
		return out, err
	}
	out.Verdict, out.Score = support.Verdict, support.Score
	out.Verified = (support.Verdict == Supported || support.Verdict == Partial) && support.Score >= v.opts.MinSupport
	if out.Verified && v.opts.Known != nil && v.opts.Known().Unread(c.Text, texts) {
		out.Verdict, out.Verified = Unsupported, false
		out.Score = min(out.Score, v.opts.MinSupport/2)
	}
	if support.Best >= 0 && support.Best < len(spans) {
		out.Passages = append(out.Passages, spans[support.Best])
	}
	return out, nil
}

// candidates returns the spans of a source that a claim is held against.
func (v *verifier) candidates(s read, claim string) []lang.Span {
	out := s.snap.Candidates(claim, v.opts.Passages)
	if v.opts.Read == nil {
		return out
	}
	for _, span := range v.opts.Read(s.number) {
		if len(out) >= v.opts.Passages {
			break
		}
		overlaps := func(o lang.Span) bool { return o.Start < span.End && span.Start < o.End }
		if span.Start >= 0 && span.Start < span.End && span.End <= len(s.snap.Text) && !slices.ContainsFunc(out, overlaps) {
			out = append(out, span)
		}
	}
	return out
}

// render makes the text to deliver. Markers come out in one form; those of
// unknown sources go, and a claim that inherited its sources gets its own
// marker once it is verified.
func (v *verifier) render(text string, claims []Checked) string {
	var b strings.Builder
	last := 0
	for _, c := range claims {
		b.WriteString(v.known(text[last:c.Start]))
		last = c.End
		if !c.Verified && v.opts.Drop {
			for last < len(text) && text[last] == ' ' {
				last++ // the space before the next sentence goes with this one
			}
			continue
		}
		body := v.known(text[c.Start:c.End])
		switch {
		case !c.Verified:
			body = appendMark(body, " "+v.opts.Mark)
		case c.Inherited:
			body = appendMark(body, " "+Marker(c.Sources))
		}
		b.WriteString(body)
	}
	b.WriteString(v.known(text[last:]))
	if v.opts.Drop {
		return collapse(b.String())
	}
	return strings.TrimSpace(b.String())
}

// known rewrites the markers of text to those of known sources.
func (v *verifier) known(text string) string {
	return renumber(text, func(n int) (int, bool) {
		_, ok := v.ledger.Source(n)
		return n, ok
	})
}

// appendMark puts a mark before the punctuation and space that end a claim.
func appendMark(body, mark string) string {
	trimmed := strings.TrimRight(body, " \t\n|")
	rest := body[len(trimmed):]
	core := strings.TrimRightFunc(trimmed, closing)
	return core + mark + trimmed[len(core):] + rest
}

// collapse tidies what dropping claims left: empty items, blank lines, tables
// without rows and headings without text.
func collapse(text string) string {
	var out []string
	blank := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n")
		bare := strings.TrimSpace(line)
		if m := itemLine().FindString(line + " "); m != "" && strings.TrimSpace(m) == bare || strings.Trim(bare, "|> ") == "" && bare != "" {
			continue
		}
		if bare == "" && blank {
			continue
		}
		blank = bare == ""
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(withoutEmptyHeads(out), "\n"))
}

// withoutEmptyHeads leaves out the heads of tables that have no rows, and headings
// that another one of their level or the end follows.
func withoutEmptyHeads(lines []string) []string {
	code := false
	var out []string
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "```") {
			code = !code
		}
		if !code && i+1 < len(lines) && tableHead(lines[i], lines[i+1]) && (i+2 == len(lines) || !strings.Contains(lines[i+2], "|")) {
			i++
			continue
		}
		out = append(out, lines[i])
	}
	// From the end, so that a heading goes whose last part has gone.
	code = false
	level := func(line string) int {
		n := len(line) - len(strings.TrimLeft(line, "#"))
		if code || n == 0 || n > 6 || !strings.HasPrefix(line[n:], " ") {
			return 0
		}
		return n
	}
	var kept []string
	next := 1 // level of the heading that follows without text between; the end is above all
	for _, line := range slices.Backward(out) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		switch n := level(line); {
		case n > 0 && next > 0 && next <= n:
			continue
		case n > 0:
			next = n
		case strings.TrimSpace(line) != "":
			next = 0
		}
		kept = append(kept, line)
	}
	slices.Reverse(kept)
	return kept
}
