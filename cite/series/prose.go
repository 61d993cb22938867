package series

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"dossier/cite"
	"dossier/cite/internal/entail"
	"dossier/index"
	"dossier/lang"
)

// statement is what a sentence says of one quantity: values of one unit, each at
// its year.
type statement struct {
	sentence string
	subject  []string // the words that say what it is about, in order
	unit     string   // as it is compared
	shown    string   // as it is written
	points   []Point
}

// statements reads a sentence: for each unit in it, if each of its values has its
// own year. "In 2019 it was 5 GW, in 2020 7 GW" has one; so have "5 GW in 2019
// and 7 GW in 2020" and "5, 7 and 8 GW in 2019, 2020 and 2021 respectively".
func statements(source cite.Source, snap *cite.Snapshot, at lang.Span) []statement {
	sentence := at.In(snap.Text)
	var years []entail.Number
	var units []string
	values := map[string][]entail.Number{}
	numbers := entail.Numbers(sentence)
	slices.SortFunc(numbers, func(a, b entail.Number) int { return a.Start - b.Start })
	dated := slices.ContainsFunc(numbers, func(n entail.Number) bool { return n.Year })
	for _, n := range numbers {
		unit := unitTerm(n.Unit, source.Lang)
		// A number without a unit that could be a year is one beside others.
		if n.Year || dated && unit == "" && n.End-n.Start == 4 && n.Value >= 1900 && n.Value <= 2100 {
			years = append(years, n)
			continue
		}
		if c := sentence[n.Start]; unit == "" || c < '0' || c > '9' {
			continue // numbers in words are hardly ever a part of a series
		}
		if !slices.Contains(units, unit) {
			units = append(units, unit)
		}
		values[unit] = append(values[unit], n)
	}
	var out []statement
	for _, unit := range units {
		of := values[unit]
		if len(years) == 0 || len(of) != len(years) || !paired(years, of) && !respective(sentence, years, of) {
			continue
		}
		s := statement{sentence: sentence, unit: unit}
		if !s.oneSubject(source.Lang, years, of) {
			continue
		}
		for _, n := range numbers { // another number may say which thing it is: "part 7"
			if !slices.Contains(years, n) && !slices.Contains(of, n) {
				s.subject = append(s.subject, sentence[n.Start:n.End])
			}
		}
		s.read(snap.PassageAt(source.Number, at), years, of)
		out = append(out, s)
	}
	return out
}

// unitTerm is a unit as it is compared, empty for a word that is none.
func unitTerm(unit string, code lang.Code) string {
	if unit == "" {
		return ""
	}
	if strings.ContainsAny(unit, "%‰°$€£¥₽") {
		return unit
	}
	if tokens := index.Tokens(unit, code); len(tokens) > 0 {
		if tokens[0].Function {
			return ""
		}
		return tokens[0].Term
	}
	if r, _ := utf8.DecodeRuneInString(unit); unicode.Is(unicode.Han, r) && !strings.ContainsRune("年月日的在和与", r) {
		return unit
	}
	return ""
}

// paired reports whether years and values take turns.
func paired(years, values []entail.Number) bool {
	yearFirst := years[0].Start < values[0].Start
	for i := range years {
		first, second := years[i], values[i]
		if !yearFirst {
			first, second = second, first
		}
		if first.Start > second.Start {
			return false
		}
		if i+1 < len(years) {
			next := years[i+1].Start
			if !yearFirst {
				next = values[i+1].Start
			}
			if next < second.Start {
				return false
			}
		}
	}
	return true
}

var respectively = pattern(`(?i)\brespectively\b|соответственно|分别`)

// respective reports whether all years come first and all values then, or the
// other way round, and the sentence says that they belong together in order.
func respective(sentence string, years, values []entail.Number) bool {
	last := len(years) - 1
	apart := years[last].Start < values[0].Start || values[last].Start < years[0].Start
	return apart && respectively().MatchString(sentence)
}

// linking are words between a year and its value that say how it changed, not
// what it is.
var linking = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for code, text := range map[lang.Code]string{
		lang.English: "was were is are had has been be rose rise risen rising grew grow grown growing fell fall fallen falling increased increase increasing decreased decrease dropped drop declined decline reached reach climbed climb jumped jump stood amounted amount totalled totaled accounted made up went went down around about nearly almost already only just over under more less than then again year years followed compared later further respectively some approximately roughly still by to at while whereas before after",
		lang.Russian: "был была было были составил составила составило составили составлял составляла составляет достиг достигла достигло достигли вырос выросла выросло выросли рос росла увеличился увеличилась увеличилось увеличились снизился снизилась снизилось снизились сократился сократилась сократилось сократились упал упала упало упали поднялся поднялась поднялось поднялись уменьшился уменьшилась равнялся равнялась год года году годах лет около примерно почти уже лишь только более менее свыше затем потом позже снова ещё соответственно уровня уровень до на к а",
	} {
		for _, t := range index.Tokens(text, code) {
			out[t.Term] = true
		}
	}
	return out
})

// hanLinking are such characters.
const hanLinking = "为是达到了增至升降长跌涨至约则又再上下的个和与及分别已共计有近超过仅年月底末初同比减少加多在于从由其中万亿千百"

// subjectOf are the words of a text that say what it is about.
func subjectOf(text string, code lang.Code, unit string) []string {
	hanUnit := ""
	if r, _ := utf8.DecodeRuneInString(unit); unicode.Is(unicode.Han, r) {
		hanUnit = unit
	}
	var out []string
	for _, t := range index.Tokens(text, code) {
		word := text[t.Start:t.End]
		switch {
		case t.Function, t.Number, t.Term == unit, linking()[t.Term]:
		case strings.ContainsAny(word, hanLinking+hanUnit):
		case strings.ContainsAny(word, "0123456789"):
		default:
			if !slices.Contains(out, t.Term) {
				out = append(out, t.Term)
			}
		}
	}
	return out
}

// leastSubject is how many words a subject has that is told in several sentences.
const leastSubject = 2

// oneSubject reports whether all pairs of the sentence are about one thing: what
// follows the first pair names nothing new.
func (s *statement) oneSubject(code lang.Code, years, values []entail.Number) bool {
	s.subject = subjectOf(s.sentence, code, s.unit)
	if len(years) == 1 {
		return len(s.subject) >= leastSubject
	}
	if respective(s.sentence, years, values) {
		return true
	}
	first := max(years[0].End, values[0].End)
	// The words behind the first pair belong to it, up to a sign that parts.
	if i := strings.IndexAny(s.sentence[first:], ",;，；、("); i >= 0 {
		first += i
	}
	begin := subjectOf(s.sentence[:first], code, s.unit)
	for _, term := range subjectOf(s.sentence[first:], code, s.unit) {
		if !slices.Contains(begin, term) {
			return false
		}
	}
	return true
}

var minus = pattern(`(?:^|[\s(（])[-−]$|−$`)

// read makes points of years and values. Where all values are written with the
// same scale ("million") it belongs to the unit.
func (s *statement) read(passage cite.Passage, years, values []entail.Number) {
	text := s.sentence
	scale := func(n entail.Number) string {
		return strings.TrimLeft(text[n.Start:n.End], "0123456789., \u00a0\u202f\u2009")
	}
	same := !slices.ContainsFunc(values, func(n entail.Number) bool { return scale(n) != scale(values[0]) })
	for i, n := range values {
		p := Point{Label: text[years[i].Start:years[i].End], At: years[i].Value, Value: n.Value, Written: text[n.Start:n.End], Passage: passage}
		if same {
			p.Written = strings.TrimRight(strings.TrimSuffix(p.Written, scale(n)), " \u00a0")
			if a := amounts([]string{p.Written})[0]; a != nil {
				p.Value = a.value
			}
		}
		if sign := minus().FindString(text[:n.Start]); sign != "" {
			sign = strings.TrimLeft(sign, " \u00a0(（")
			p.Value, p.Written = -p.Value, sign+p.Written
		}
		s.points = append(s.points, p)
	}
	// The unit as it is written, behind the first value or before it.
	n := values[0]
	from := n.End
	if same {
		from -= len(scale(n))
	}
	s.shown = strings.TrimSpace(text[from:n.End] + " " + n.Unit)
	if rest := text[n.End:]; len(rest) == len(strings.ToLower(rest)) {
		if i := strings.Index(strings.ToLower(rest), n.Unit); i >= 0 && i < 4 {
			s.shown = strings.Trim(text[from:n.End+i+len(n.Unit)], " \u00a0-")
		}
	}
}

// plot is the series that one sentence gives.
func (s *statement) plot() (Plot, bool) {
	if len(s.points) < fewest {
		return Plot{}, false
	}
	return whole(s.sentence, s.shown, true, []Line{{Points: s.points}})
}

// together are the series that several sentences give, each a part: they are about
// the same and in the same unit. Years for which two say something else are a
// disagreement, and there is no plot of it.
func together(list []statement) []Plot {
	groups := map[string][]statement{}
	var order []string
	for _, s := range list {
		if len(s.subject) < leastSubject {
			continue
		}
		words := slices.Clone(s.subject)
		slices.Sort(words)
		key := s.shown + "\x00" + s.unit + "\x00" + strings.Join(words, " ")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], s)
	}
	var out []Plot
	for _, key := range order {
		var points []Point
		agreed := true
		for _, s := range groups[key] {
			for _, p := range s.points {
				i := slices.IndexFunc(points, func(o Point) bool { return o.At == p.At })
				if i < 0 {
					points = append(points, p)
				} else {
					agreed = agreed && points[i].Value == p.Value
				}
			}
		}
		if !agreed {
			continue
		}
		first := groups[key][0]
		if p, ok := whole(first.sentence, first.shown, true, []Line{{Points: points}}); ok {
			out = append(out, p)
		}
	}
	return out
}
