package cite

import (
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"dossier/lang"
)

// normal is a text in the form in which quotations are compared, with the way
// back to the original's bytes. Unicode's compatibility forms are unified
// (NFKC), and so are quotation marks, dashes and spaces; soft hyphens and
// other invisible characters and Markdown's emphasis are gone, runs of white
// space are one space, and none between ideographs and before punctuation.
type normal struct {
	text string
	// runs say where stretches begin in which both texts go byte by byte, and
	// where the pieces are that don't.
	runs runs
}

// run begins at an offset of the comparable form and of the original. If width
// is not 0, it is a piece that can't be divided, of that many bytes of the
// original.
type run struct{ at, from, width int }

type runs []run

// add appends a run unless it only continues the last one.
func (rs runs) add(r run) runs {
	if len(rs) > 0 && r.width == 0 {
		if last := rs[len(rs)-1]; last.width == 0 && r.from-r.at == last.from-last.at {
			return rs
		}
	}
	return append(rs, r)
}

// find returns the index of the run in which at lies.
func (rs runs) find(at int) int {
	return sort.Search(len(rs), func(i int) bool { return rs[i].at > at }) - 1
}

// start and end map the ends of a span back to the original.
func (rs runs) start(at int) int {
	r := rs[rs.find(at)]
	if r.width > 0 {
		return r.from
	}
	return r.from + at - r.at
}

func (rs runs) end(at int) int {
	r := rs[rs.find(at-1)] // an end belongs to the character before it
	if r.width > 0 {
		return r.from + r.width
	}
	return r.from + at - r.at
}

// normalise returns the comparable form of text.
func normalise(text string) *normal {
	clean, known := unify(text)
	if norm.NFKC.IsNormalString(clean) {
		return &normal{clean, known}
	}
	out := make([]byte, 0, len(clean))
	var moved runs
	next := 0 // of known
	// same copies clean[from:to] with the runs in it.
	same := func(from, to int) {
		for next < len(known) && known[next].at <= from {
			next++
		}
		first := known[next-1]
		if first.at < from {
			first.from += from - first.at // clean is cut only between pieces
		}
		moved = moved.add(run{len(out), first.from, first.width})
		for ; next < len(known) && known[next].at < to; next++ {
			r := known[next]
			moved = moved.add(run{len(out) + r.at - from, r.from, r.width})
		}
		out = append(out, clean[from:to]...)
	}
	for from := 0; from < len(clean); {
		if n := norm.NFKC.QuickSpanString(clean[from:]); n > 0 {
			same(from, from+n)
			from += n
			continue
		}
		to := from + norm.NFKC.NextBoundaryInString(clean[from:], true)
		if seg := norm.NFKC.String(clean[from:to]); seg == clean[from:to] {
			same(from, to)
		} else {
			start := known.start(from)
			moved = moved.add(run{len(out), start, known.end(to) - start})
			out = append(out, seg...)
		}
		from = to
	}
	return &normal{string(out), moved}
}

// unify does all of the normalisation but NFKC.
func unify(text string) (string, runs) {
	out := make([]byte, 0, len(text))
	var rs runs
	var last rune // the last visible character
	space := -1   // where pending white space begins
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case r <= ' ' || r == 0x7f || r >= utf8.RuneSelf && blank(r):
			if space < 0 {
				space = i
			}
		case r == '*' || r == '`' || lang.Invisible(r):
		default:
			if space >= 0 && len(out) > 0 && !(wide(last) && wide(r)) && !clings(r) {
				rs = rs.add(run{len(out), space, i - space})
				out = append(out, ' ')
			}
			space = -1
			at := len(out)
			out = utf8.AppendRune(out, plain(r))
			if len(out)-at == size {
				rs = rs.add(run{at, i, 0})
			} else {
				rs = rs.add(run{at, i, size})
			}
			last = r
		}
		i += size
	}
	return string(out), rs
}

// clings reports punctuation before which a space says nothing: some write one,
// and taking a marker out leaves one.
func clings(r rune) bool {
	switch r {
	case '.', ',', ';', ':', '!', '?', '…', '。', '，', '、', '；', '：', '！', '？':
		return true
	}
	return false
}

// blank reports white space beyond ASCII.
func blank(r rune) bool {
	switch r {
	case 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return 0x2000 <= r && r <= 0x200a
}

// plain unifies quotation marks and dashes.
func plain(r rune) rune {
	switch {
	case r == '\'':
		return '"'
	case r < 0xab, 0xbb < r && r < 0x2bc, 0x2bc < r && r < 0x2010, 0x203a < r && r < 0x2212, 0x301e < r && r < 0xfe58:
		return r
	}
	switch r {
	case '«', '»', '“', '”', '„', '‟', '‘', '’', '‚', '‛', '‹', '›', '′', '″', '´', 'ʼ', '「', '」', '『', '』', '＂', '＇', '〝', '〞', '｢', '｣':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−', '﹘', '﹣', '－':
		return '-'
	}
	return r
}

// ideograph reports characters that are written without spaces between words.
func ideograph(r rune) bool {
	return r >= 0x3040 && (r <= 0x30ff || 0x3400 <= r && r <= 0x9fff || 0xf900 <= r && r <= 0xfaff || 0x20000 <= r && r <= 0x323af)
}

// wide reports ideographs and the punctuation that goes with them.
func wide(r rune) bool {
	return ideograph(r) || 0x3001 <= r && r <= 0x303f || 0xff00 <= r && r <= 0xffef
}

// span maps a span of the comparable form, which is not empty, back to the
// original's bytes.
func (n *normal) span(start, end int) (int, int) { return n.runs.start(start), n.runs.end(end) }
