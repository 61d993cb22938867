package webtest

import (
	"fmt"
	"strconv"
	"strings"

	"dossier/lang"
)

// Question is something to ask about the pages.
type Question struct {
	Text string
	Lang lang.Code
	// Answer is what a citation has to hold, as the pages spell it.
	Answer string
	// Pages are the URLs of the readable pages that hold it.
	Pages []string
	// Hops is how many pages have to be read one after the other: with 2, a
	// page of Via names what a page of Pages is about.
	Hops int
	Via  []string
	// Rival is a value that outdated or contradicting pages give instead.
	Rival string
	// After is the question without which this one makes no sense.
	After string
	// Unanswerable says that no page has an answer.
	Unanswerable bool
}

func (s *site) readQuestions() error {
	raw, err := files.ReadFile("pages/questions.txt")
	if err != nil {
		return fmt.Errorf("webtest: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		line, follows := strings.CutPrefix(line, "+")
		var part [7]string
		for i, p := range strings.SplitN(line, "|", len(part)) {
			part[i] = strings.TrimSpace(p)
		}
		hops, err := strconv.Atoi(part[1])
		if err != nil || part[4] == "" {
			return fmt.Errorf("webtest: questions.txt: %q is not a question", line)
		}
		q := Question{Lang: lang.Code(part[0]), Hops: hops, Text: part[4], Rival: part[6]}
		if follows {
			q.After = s.questions[len(s.questions)-1].Text
		}
		if part[3] == "-" {
			q.Unanswerable = true
			s.questions = append(s.questions, q)
			continue
		}
		q.Answer = part[3]
		for _, p := range s.pages {
			if !p.holds() {
				continue
			}
			if strings.Contains(p.Text, part[2]) && strings.Contains(p.Text, q.Answer) {
				q.Pages = append(q.Pages, p.URL)
			}
			if part[5] != "" && strings.Contains(p.Text, part[5]) {
				q.Via = append(q.Via, p.URL)
			}
		}
		if len(q.Pages) == 0 || hops > 1 && len(q.Via) == 0 {
			return fmt.Errorf("webtest: questions.txt: no page answers %q", q.Text)
		}
		s.questions = append(s.questions, q)
	}
	return nil
}
