package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"dossier/cite"
)

// BibTeX returns the sources as entries for BibTeX and BibLaTeX, in UTF-8. Their
// keys are made of author or site, year and number.
func BibTeX(r *Report) string {
	var b strings.Builder
	for i := range r.Sources {
		s := &r.Sources[i]
		kind := "misc"
		if s.Kind == cite.Web {
			kind = "online"
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "@%s{%s,\n", kind, s.key())
		for _, f := range [][2]string{
			{"title", bibText(r.shortName(s))}, {"author", bibText(s.Author)}, {"organization", bibText(s.Site)},
			{"date", s.isoDate()}, {"year", s.year()}, {"url", bibAddress(r.Address(s.Number))}, {"urldate", r.day()}, {"langid", string(s.Lang)}, {"note", bibText(r.usedIn(s))},
		} {
			if f[1] != "" {
				fmt.Fprintf(&b, "  %s = {%s},\n", f[0], f[1])
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// RIS returns the sources as records of the RIS format, which reference
// managers read.
func RIS(r *Report) string {
	var b strings.Builder
	for i := range r.Sources {
		s := &r.Sources[i]
		kind := "GEN"
		if s.Kind == cite.Web {
			kind = "ELEC"
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		tag := func(name, value string) {
			if value = line(value); value != "" {
				b.WriteString(name + "  - " + value + "\r\n")
			}
		}
		tag("TY", kind)
		tag("ID", s.key())
		tag("TI", r.shortName(s))
		tag("AU", s.Author)
		tag("PB", s.Site)
		tag("PY", s.year())
		tag("DA", strings.ReplaceAll(s.isoDate(), "-", "/"))
		tag("UR", r.Address(s.Number))
		tag("Y2", strings.ReplaceAll(r.day(), "-", "/"))
		tag("LA", string(s.Lang))
		for j := range s.Passages {
			tag("N1", together(s.Passages[j].displayed()))
		}
		b.WriteString("ER  - \r\n")
	}
	return b.String()
}

// usedIn says which parts of the report cite a source.
func (r *Report) usedIn(s *Source) string {
	if len(s.Used) == 0 {
		return ""
	}
	return r.say("source.used") + ": " + strings.Join(s.Used, ", ")
}

// day is when the report was made, and so its sources read at the latest.
func (r *Report) day() string {
	if r.Created.IsZero() {
		return ""
	}
	return r.Created.UTC().Format(time.DateOnly)
}

// isoDate is the date of publication, if it is one.
func (s *Source) isoDate() string {
	for _, form := range []string{"2006-01-02", "2006-01", "2006"} {
		if _, err := time.Parse(form, s.Date); err == nil {
			return s.Date
		}
	}
	return ""
}

func (s *Source) year() string {
	if date := s.isoDate(); date != "" {
		return date[:4]
	}
	return ""
}

// key names a source: letters and digits that every program takes.
func (s *Source) key() string {
	name := s.Author
	if name == "" {
		name = s.Site
	}
	if name == "" && s.Kind != cite.Web {
		name = strings.TrimSuffix(filepath.Base(s.URI), filepath.Ext(s.URI))
	}
	words := strings.FieldsFunc(norm.NFD.String(strings.ToLower(name)), func(r rune) bool { return r > unicode.MaxASCII && !unicode.Is(unicode.Mn, r) || r == ' ' || r == ',' })
	last := "source"
	for _, w := range words {
		if w = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, w); len(w) > 1 {
			last = w
		}
	}
	return fmt.Sprintf("%s%s-%d", last, s.year(), s.Number)
}

var bibEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "%", `\%`, "&", `\&`, "$", `\$`, "#", `\#`, "_", `\_`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`)

// bibText escapes text for LaTeX.
func bibText(text string) string { return bibEscapes.Replace(line(text)) }

// bibAddress is an address, which LaTeX reads as it is but for what could end
// the field.
func bibAddress(address string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C").Replace(address)
}
