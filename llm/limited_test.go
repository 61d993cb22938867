package llm_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/llm"
)

// silent never answers, and counts how often it was asked.
type silent struct{ asked int }

func (s *silent) Stream(ctx context.Context, _ *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	s.asked++
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s *silent) Embed(ctx context.Context, _ string, _ []string) (*llm.Embeddings, error) {
	s.asked++
	<-ctx.Done()
	return nil, ctx.Err()
}

// A model that is silent is asked four times, for so long each, and then given up.
func TestLimitedIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silent{}
		gov := llm.NewGovernor(llm.GovernorConfig{Endpoint: "e"})
		_, err := gov.Wrap(llm.Limited(s, 30*time.Second, "e")).Stream(t.Context(), &llm.Request{Model: "m"}, nil)
		if llm.KindOf(err) != llm.ErrTimeout || s.asked != 4 || !strings.Contains(err.Error(), "no whole answer within 30s") {
			t.Errorf("%v after %d calls", err, s.asked)
		}
		s.asked = 0
		_, err = gov.WrapEmbedder(llm.LimitedEmbedder(s, 30*time.Second, "e")).Embed(t.Context(), "m", []string{"a"})
		if llm.KindOf(err) != llm.ErrTimeout || s.asked == 0 {
			t.Errorf("%v after %d calls", err, s.asked)
		}
	})
}

// Whoever leaves is told so, and nothing is repeated.
func TestLimitedIsLeft(t *testing.T) {
	s := &silent{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Limited(s, time.Hour, "e").Stream(ctx, &llm.Request{}, nil); llm.KindOf(err) != "" || err == nil {
		t.Errorf("%v", err)
	}
}
