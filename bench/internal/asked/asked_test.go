package asked

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"The “default”  is\n`128 MB`": "the default is 128 mb",
		"**标准** | 5 MB":               "标准5 mb",
		"hyphen-\nated ёлка — x":      "hyphen-ated елка - x",
		" | ":                         "",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

func TestHeadIsAHundredWords(t *testing.T) {
	long := strings.Repeat("word ", 99)
	for _, c := range []struct {
		quotes []string
		last   string
	}{
		{[]string{long, "here not"}, "here "},
		{[]string{long + "here", "not"}, ""},
		{[]string{long, "汉字不"}, "汉字"},
		{[]string{"all of it"}, "all of it"},
	} {
		got := head(c.quotes, 100)
		if last := got[len(got)-1]; last != c.last {
			t.Errorf("%d quotes, the last %q, want %q", len(got), last, c.last)
		}
	}
}

func TestJudge(t *testing.T) {
	q := &Question{Accept: [][]string{{"128 megabytes", "128MB"}, {"at least"}}}
	far := strings.Repeat("word ", 100)
	for _, c := range []struct {
		answer Answer
		want   Result
	}{
		{Answer{Quotes: []string{"It is 128 Megabytes, at\nleast 1."}}, Result{In100: true, In1: true, In2: true, InAll: true}},
		{Answer{Quotes: []string{"128MB", "at least 1"}}, Result{In100: true, In2: true, InAll: true}},
		{Answer{Quotes: []string{"no", "128MB", "at least 1"}}, Result{In100: true, InAll: true, Noise: 1}},
		{Answer{Quotes: []string{far, "128MB at least 1"}}, Result{In2: true, InAll: true, Noise: 1}},
		{Answer{Quotes: []string{"128 megabytes", "at most"}}, Result{}},
		{Answer{Quotes: []string{"128MB at least 1"}, Refused: true}, Result{Refused: true, Noise: -1}},
	} {
		c.want.Question = q
		if got := Judge(q, c.answer); got != c.want {
			t.Errorf("%q: %+v", c.answer.Quotes, got)
		}
	}
}

func TestFigures(t *testing.T) {
	can, cannot := &Question{Folder: "f", Lang: "en", Type: "number"}, &Question{Folder: "g", Lang: "ru", Type: "unanswerable"}
	got := map[string]float64{}
	for _, f := range Figures([]Result{{Question: can, In100: true, InAll: true, Noise: 2}, {Question: can, Refused: true, Noise: -1}, {Question: cannot}, {Question: cannot, Refused: true}}) {
		got[f.Name] = f.Value
	}
	for name, want := range map[string]float64{"answered@100w": 0.5, "answered@100w.f": 0.5, "answered@1.number": 0, "wrong-refusal": 0.5, "false-answer.ru": 0.5, "noise": 2,
		"reliability": 0.5, "reliability.f": 1, "reliability.ru": 0} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s %v, want %v", name, v, want)
		}
	}
	if _, there := got["false-answer.f"]; there {
		t.Error("a figure of nothing")
	}
}

func TestLoadReadsBothForms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	lines := `{"id":"a","history":["before"],"accept":[["x"]]}
{"id":"b","history":[{"question":"before","answer":"said"}],"keys":[["y"]]}
`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := Load(path)
	if err != nil || len(list) != 2 || list[0].History[0].Question != "before" || list[1].History[0].Answer != "said" || list[1].Accept[0][0] != "y" {
		t.Errorf("%+v, %v", list, err)
	}
}
