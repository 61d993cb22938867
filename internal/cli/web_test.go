package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"pgregory.net/rapid"

	"dossier/internal/config"
)

// parsed is a command line as its flags and words.
func parsed(t *testing.T, line ...string) (*webFlags, []string, error) {
	t.Helper()
	var g grammar
	parser, err := newParser(&g, kong.Bind(&app{}), kong.Exit(func(int) { t.Error("it exits") }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(line)
	if len(line) > 0 && line[0] == "ask" {
		return &g.Ask.webFlags, g.Ask.Question, err
	}
	return &g.Research.webFlags, g.Research.Question, err
}

// said is what a choice comes to, in short.
func said(c webChoice, words []string) string {
	var out []string
	if s := c.scope; s != nil {
		out = append(out, "web "+strings.Join(s.Engines, "+"))
		for name, at := range map[string]time.Time{"since": s.Since, "until": s.Until} {
			if !at.IsZero() {
				out = append(out, name+" "+at.Format(time.DateTime))
			}
		}
		if len(s.Sites) > 0 {
			out = append(out, "site "+strings.Join(s.Sites, "+"))
		}
		if len(s.Block) > 0 {
			out = append(out, "block "+strings.Join(s.Block, "+"))
		}
		slices.Sort(out[1:])
	}
	if c.inUse {
		out = append(out, "in use")
	}
	if c.none {
		out = append(out, "none")
	}
	return strings.TrimSpace(strings.Join(append(out, "| "+strings.Join(words, " ")), " "))
}

var someday = time.Date(2026, 5, 31, 15, 4, 5, 0, time.FixedZone("here", 3*60*60))

func TestWebFlags(t *testing.T) {
	servers := []string{"hn", "My-Server"}
	for line, want := range map[string]string{
		"research|why":                            "| why",
		"research|why|--search":                   "web  | why",
		"research|--search|why":                   "web  | why",
		"research|--search|why|not":               "web  | why not",
		"ask|--search|why is it so?":              "web  | why is it so?",
		"ask|why is it so?|--search":              "web  | why is it so?",
		"ask|why|--search|--json":                 "web  | why",
		"ask|--search|--|arxiv":                   "web  | arxiv",
		"ask|why|--search|auto":                   "web  | why",
		"ask|why|--search=web":                    "web  | why",
		"ask|--search|github wikipedia":           "web  | github wikipedia",
		"ask|--search|brave,arxiv|why":            "web brave+arxiv | why",
		"ask|--search|Brave|why":                  "web brave | why",
		"ask|--search=brave, arxiv,brave|why":     "web brave+arxiv | why",
		"ask|--search=brave|--search|arxiv|why":   "web brave+arxiv | why",
		"ask|why|--search|hn":                     "web hn | why",
		"ask|--search|hn,brave|why":               "web hn+brave | why",
		"ask|--search=My-Server|why":              "web My-Server | why",
		"ask|why|--search|local":                  "web local | why",
		"ask|why|--search=local,github":           "web local+github | why",
		"ask|why|--search=auto,local":             "web  in use | why",
		"ask|why|--search|none":                   "web local none | why",
		"ask|why|--site|example.org":              "web  site example.org | why",
		"ask|why|--since|2024":                    "web  since 2024-01-01 00:00:00 | why",
		"ask|why|--until|2024-02|--search=github": "web github until 2024-02-29 23:59:59 | why",
		"ask|why|--block|a.org,b.org|--block|https://C.org:8080/x?y=https://d.org|--site|.org": "web  block a.org+b.org+c.org site org | why",
	} {
		f, words, err := parsed(t, strings.Split(line, "|")...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		choice, words, err := f.choose(words, servers, someday)
		if got := said(choice, words); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
}

func TestWebFlagsThatAreWrong(t *testing.T) {
	for line, want := range map[string]string{
		"ask|why|--search=":                        "no engine is named",
		"ask|why|--search=,":                       "no engine is named",
		"ask|why|--search=nosuch":                  `there is no search engine "nosuch"`,
		"ask|why|--search|nosuch":                  `there is no search engine "nosuch"`,
		"ask|--search|nosuch|why is it so?":        `there is no search engine "nosuch"`,
		"ask|why|--search|brave,nosuch":            `there is no search engine "nosuch"`,
		"ask|why|--search=none,brave":              "engines, and none",
		"ask|why|--search=none,auto":               "engines, and none",
		"ask|why|--search=auto,brave":              "names brave, and auto",
		"ask|why|--search=none|--since|2024":       "--since is about the web",
		"ask|why|--search=local|--site|a.org":      "--site is about the web",
		"ask|why|--since|nonsense":                 "--since nonsense is no date",
		"ask|why|--since|2024-13":                  "is no date",
		"ask|why|--since|2023-02-29":               "is no date",
		"ask|why|--since|12345y":                   "is no date",
		"ask|why|--since|-3d":                      "is no date",
		"ask|why|--since|3x":                       "is no date",
		"ask|why|--since|d":                        "is no date",
		"ask|why|--since|9999y":                    "is too long ago",
		"ask|why|--since|2027":                     "--since 2027 is in the future",
		"ask|why|--until|2026-06-01":               "--until 2026-06-01 is in the future",
		"ask|why|--since|2025|--until|2024":        "--since 2025 is after --until 2024",
		"ask|why|--site|github":                    "--site github is no domain",
		"ask|why|--site|a..org":                    "is no domain",
		"ask|why|--site|ftp://a.org":               "is no domain",
		"ask|why|--site|a b.org":                   "is no domain",
		"ask|why|--site|file:///etc/passwd":        "is no domain",
		"ask|why|--block|*":                        "is no domain",
		"ask|why|--block|https://":                 "is no domain",
		"ask|why|--site|docs.a.org|--block|a.org":  "blocked by --block a.org",
		"ask|why|--site|a.org,b.org|--block|B.org": "blocked by --block b.org",
	} {
		f, words, err := parsed(t, strings.Split(strings.ReplaceAll(line, "--since|-", "--since=-"), "|")...)
		if err == nil {
			_, _, err = f.choose(words, nil, someday)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
			continue
		}
		if e := explain(usage(err)); e.code != exitUsage || e.hint == "" {
			t.Errorf("%s: %+v", line, e)
		}
	}
	f, words, _ := parsed(t, "ask", "why", "--search", "wikipdia")
	if _, _, err := f.choose(words, nil, someday); !strings.Contains(explain(err).hint, "did you mean wikipedia?") {
		t.Errorf("%+v", explain(err))
	}
}

func TestPeriods(t *testing.T) {
	for text, want := range map[string]string{
		"2024": "2024-01-01 2024-12-31", "2024-05": "2024-05-01 2024-05-31", "2024-5": "2024-05-01 2024-05-31", "2024-05-17": "2024-05-17 2024-05-17",
		"2026": "2026-01-01 2026-12-31", "2026-05-31": "2026-05-31 2026-05-31", "0d": "2026-05-31 2026-05-31", "7D": "2026-05-24 2026-05-24",
		"2w": "2026-05-17 2026-05-17", "1m": "2026-04-30 2026-04-30", "3m": "2026-02-28 2026-02-28", "12m": "2025-05-31 2025-05-31",
		"15m": "2025-02-28 2025-02-28", "1y": "2025-05-31 2025-05-31", "5y": "2021-05-31 2021-05-31",
	} {
		from, to, err := period("--since", text, someday)
		if got := from.Format(time.DateOnly) + " " + to.Format(time.DateOnly); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
		if from.Location() != someday.Location() || from.Hour()+from.Minute()+from.Second() != 0 || to.Format(time.TimeOnly) != "23:59:59" {
			t.Errorf("%s: %s to %s", text, from, to)
		}
	}
}

// However long ago, the days are in order, and none is in the future.
func TestPeriodsAgo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "now"), 0).UTC()
		n := rapid.IntRange(0, 1000).Draw(t, "n")
		unit := rapid.SampledFrom([]string{"d", "w", "m", "y"}).Draw(t, "unit")
		near, end, err := period("--since", fmt.Sprint(n, unit), now)
		if err != nil {
			t.Fatal(err)
		}
		far, _, err := period("--since", fmt.Sprint(n+1, unit), now)
		if err != nil || !far.Before(near) || near.After(now) || end.Sub(near) != 24*time.Hour-time.Second {
			t.Fatalf("%s, %s, %v", near, far, err)
		}
	})
}

func FuzzDomain(f *testing.F) {
	for _, text := range []string{"example.org", "https://www.example.org/a?b", ".edu", "*.пример.рф", "user:pw@a.b", "[::1]", "a\x00.b", "http://a.b:99999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := domainOf(text)
		if !ok {
			return
		}
		if again, ok := domainOf("." + d); !ok || again != d || strings.ContainsAny(d, "/:@?#, \n\x1b") || d == "" {
			t.Errorf("%q: %q, then %q", text, d, again)
		}
	})
}

// Every engine of the configuration can be named, and the help names all.
func TestEngineNames(t *testing.T) {
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=" + t.TempDir()}, File: config.NoFile})
	if err != nil {
		t.Fatal(err)
	}
	got := engineNames
	for _, s := range cfg.Explain() {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(s.Path, "search."), ".base_url"); ok && strings.HasPrefix(s.Path, "search.") && !slices.Contains(got, name) {
			t.Errorf("%s can't be named", name)
		}
	}
	for _, name := range got {
		if name != "local" && !strings.Contains(webHelp, name) {
			t.Errorf("the help does not name %s", name)
		}
	}
}
