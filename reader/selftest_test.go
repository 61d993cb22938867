package reader

import (
	"context"
	"strings"
	"testing"
)

func TestSelfTest(t *testing.T) {
	r := newReader(t, Config{Workers: 1})
	formats := map[Format]bool{}
	for _, c := range r.SelfTest(t.Context()) {
		formats[c.Format] = true
		if !c.OK || c.Detail != "" {
			t.Errorf("%s %s: %s", c.Format, c.Sample, c.Detail)
		}
		t.Logf("%s %s: %v", c.Format, c.Sample, c.Took)
	}
	for _, f := range []Format{HTML, PDF, DOCX, EPUB, Text, Markdown, JSON, CSV} {
		if !formats[f] {
			t.Errorf("%s was not tested", f)
		}
	}
}

// A reader that can't read says so for each format.
func TestSelfTestFails(t *testing.T) {
	r := newReader(t, Config{Workers: 1, MaxText: 40})
	for _, c := range r.SelfTest(t.Context()) {
		if c.OK || !strings.Contains(c.Detail, "is not in what was read") {
			t.Errorf("%s %s: %v %q", c.Format, c.Sample, c.OK, c.Detail)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got := r.SelfTest(ended); len(got) != 1 || got[0].OK {
		t.Errorf("with an ended context: %+v", got)
	}
}
