package wire

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/internal/config"
	"dossier/lang"
	"dossier/llm"
	"dossier/llm/completions"
)

// stillModel never replies, and counts how often it was asked.
type stillModel struct{ asked int }

func (m *stillModel) Stream(ctx context.Context, _ *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	m.asked++
	<-ctx.Done()
	return nil, ctx.Err()
}

// A model that does not reply is asked four times for 30 s each, and given up then.
func TestTheConsoleIsHasty(t *testing.T) {
	cfg, err := config.Load(config.Sources{Env: []string{"HOME=/home/u"}, File: "none"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := &stillModel{}
		c := newConnector(cfg, map[llm.RoleName]llm.Setting{llm.ForDefault: {Name: "still", Model: m}}, &llm.MemoryProbes{})
		models, err := c.hasty(cfg.Console.Timeout).models(cfg)
		if err != nil {
			t.Fatal(err)
		}
		api := completions.API{Model: models.For(llm.ForChat), DefaultModel: "still"}
		began := time.Now()
		out := api.PostChatCompletions(t.Context(), map[string]any{"messages": []any{map[string]any{"role": "user", "content": "x"}}}, false)
		text, _ := out["error"].(string)
		if m.asked != 4 || !strings.Contains(text, "given up after 4 attempts") || !strings.Contains(text, "within 30s") {
			t.Errorf("%v after %d calls", out, m.asked)
		}
		if took := time.Since(began); took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("it took %s of the bubble's time", took)
		}
	})
}

// The names of the seed are known in any case, and its values are the defaults.
func TestConsoleSettings(t *testing.T) {
	load := func(flags map[string]string, env ...string) *config.Config {
		cfg, err := config.Load(config.Sources{Env: append(env, "HOME=/home/u"), File: "none", Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	set := ConsoleSettings(load(nil))
	if set.HistoryLimit != 10 || set.QuestionMaxLen != 30 || set.ThemeMaxLen != 20 || set.TopK != 2 || !set.ExitOnLLMError || set.Lang != lang.Russian ||
		strings.Join(set.ExitCommands, " ") != "/exit /quit /q exit quit q" || strings.Join(set.HelpCommands, " ") != "/help help ?" {
		t.Errorf("%+v", set)
	}
	set = ConsoleSettings(load(map[string]string{"Param_Theme_MaxLen": "7", "lang": "zh"}, "PARAM_QUESTION_MAXLEN=300", "CONTEXT_HIST_LIMIT=4", "PARAM_RAG_TOP_K=5"))
	if set.QuestionMaxLen != 300 || set.ThemeMaxLen != 7 || set.HistoryLimit != 4 || set.TopK != 5 || set.Lang != lang.Chinese {
		t.Errorf("%+v", set)
	}
	cfg := load(nil, "GIGACHAT_CREDENTIALS=x")
	if m := cfg.Model(config.RoleChat); m.Model != completions.DefaultModel {
		t.Errorf("the model of GigaChat is %q", m.Model)
	}
	cfg = load(nil, "GIGACHAT_CREDENTIALS=x", "DEFAULT_MODEL=GigaChat-2", "DEFAULT_EMBEDDING_MODEL=EmbeddingsGigaR")
	if m, e := cfg.Model(config.RoleChat), cfg.Model(config.RoleEmbeddings); m.Model != "GigaChat-2" || e.Model != "EmbeddingsGigaR" {
		t.Errorf("the models are %q and %q", m.Model, e.Model)
	}
}
