package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"

	"dossier/index"
	"dossier/llm"
	"dossier/sources"
)

// turn is what somebody says in a conversation.
type turn struct {
	ID        string            `json:"_id"`
	History   []json.RawMessage `json:"history"`
	Utterance string            `json:"utterance"`
	Question  string            `json:"question"` // MTRAG-UN
	Rewrite   string            `json:"rewrite"`  // by people
	Gold      []string          `json:"gold"`

	before []llm.Message
}

// readTurns reads conversations in the forms of the sets: pairs of what the user
// and the system said, messages with roles, or texts.
func readTurns(e *Env, file string) ([]turn, error) {
	turns, err := readLines[turn](e, file)
	for i := range turns {
		t := &turns[i]
		if t.Utterance == "" {
			t.Utterance = t.Question
		}
		for n, raw := range t.History {
			var said struct{ User, System, Role, Text string }
			var text string
			if json.Unmarshal(raw, &text) == nil {
				role := llm.RoleUser
				if n%2 == 1 {
					role = llm.RoleAssistant
				}
				t.before = append(t.before, llm.Message{Role: role, Content: text})
				continue
			}
			if err := json.Unmarshal(raw, &said); err != nil {
				return nil, fmt.Errorf("%s: history of %s: %w", file, t.ID, err)
			}
			if said.Role == "user" {
				said.User = said.Text
			} else if said.Role != "" {
				said.System = said.Text
			}
			if said.User != "" {
				t.before = append(t.before, llm.Message{Role: llm.RoleUser, Content: said.User})
			}
			if said.System != "" {
				t.before = append(t.before, llm.Message{Role: llm.RoleAssistant, Content: said.System})
			}
		}
	}
	return turns, err
}

// runConversations measures what is found for a turn as it was said, as the
// product rewrites it without a model and, where people have, as they did.
func runConversations(ctx context.Context, e *Env) error {
	asked, corpus := "turns.jsonl.gz", "passages.jsonl.gz"
	if e.Set == "conv_mtragun_en" {
		asked, corpus = "tasks.jsonl.gz", "corpus.jsonl.gz"
	}
	turns, err := readTurns(e, asked)
	if err != nil {
		return err
	}
	passages, err := readLines[passage](e, corpus)
	if err != nil {
		return err
	}
	var files []file
	var ids, texts []string
	for i, p := range passages {
		name := fmt.Sprintf("%05d", i)
		body := p.Text
		if p.Title != "" {
			body = p.Title + "\n\n" + body
		}
		files = append(files, file{ID: p.ID, Name: name + ".txt", Body: []byte(body)})
		ids, texts = append(ids, p.ID), append(texts, p.Title+"\n"+p.Text)
	}
	s, err := e.shelve(files)
	if err != nil {
		return err
	}
	defer s.close()
	find := func(t topic) (ranking, error) {
		found, err := s.search(ctx, "", t.Text, chunksRanked)
		return documentsFound(found), err
	}
	var raw, ours, human []topic
	for _, t := range turns {
		relevant := map[string]float64{}
		for _, id := range t.Gold {
			relevant[id] = 1
		}
		if len(relevant) == 0 || len(t.before) == 0 {
			continue
		}
		rewritten := sources.StandAlone(t.Utterance, t.before)
		raw = append(raw, topic{t.ID, t.Utterance, relevant})
		ours = append(ours, topic{t.ID, rewritten, relevant})
		if t.Rewrite != "" {
			human = append(human, topic{t.ID, t.Rewrite, relevant})
		}
		if err := e.Record(map[string]string{"id": t.ID, "raw": t.Utterance, "ours": rewritten, "human": t.Rewrite}); err != nil {
			return err
		}
	}
	plain := newLexicon(ids, texts)
	for _, way := range []struct {
		suffix string
		topics []topic
	}{{".raw", raw}, {".ours", ours}, {".human", human}} {
		if len(way.topics) == 0 {
			continue
		}
		if err := e.retrieval(ctx, way.suffix, way.topics, find); err != nil {
			return err
		}
		if err := e.plainly(ctx, way.suffix, way.topics, func(topic) *lexicon { return plain }); err != nil {
			return err
		}
	}
	return nil
}

// documentsFound turns a ranking of chunks into one of documents: each counts
// as its best chunk.
func documentsFound(found []located) ranking {
	var out ranking
	seen := map[string]bool{}
	for _, h := range found {
		if !seen[h.Doc] {
			seen[h.Doc] = true
			out = append(out, index.Hit{ID: h.Doc, Score: h.Score})
		}
	}
	return out
}

// runRewrites measures the rewriting of Chinese turns by itself: how many of the
// characters that people added it adds, and BLEU over characters.
func runRewrites(_ context.Context, e *Env) error {
	turns, err := readTurns(e, "turns.jsonl.gz")
	if err != nil {
		return err
	}
	recall, n := 0.0, 0
	var ours, human [][]string
	for _, t := range turns {
		rewritten := sources.StandAlone(t.Utterance, t.before)
		if err := e.Record(map[string]string{"id": t.ID, "raw": t.Utterance, "ours": rewritten, "human": t.Rewrite}); err != nil {
			return err
		}
		said, mine := map[string]bool{}, map[string]bool{}
		for _, c := range characters(t.Utterance) {
			said[c] = true
		}
		for _, c := range characters(rewritten) {
			mine[c] = true
		}
		added, had := 0, 0
		seen := map[string]bool{}
		for _, c := range characters(t.Rewrite) {
			if !said[c] && !seen[c] {
				seen[c] = true
				added++
				if mine[c] {
					had++
				}
			}
		}
		if added > 0 {
			recall += float64(had) / float64(added)
			n++
		}
		ours, human = append(ours, characters(rewritten)), append(human, characters(t.Rewrite))
	}
	e.Score("added-recall", recall/float64(max(1, n)), n)
	e.Score("bleu4", bleu4(ours, human), len(turns))
	return nil
}

// characters are those of a text that are no white space.
func characters(text string) []string {
	var out []string
	for _, r := range text {
		if !unicode.IsSpace(r) {
			out = append(out, string(r))
		}
	}
	return out
}

// bleu4 is BLEU over a corpus with one reference each.
func bleu4(got, want [][]string) float64 {
	var hits, all [4]float64
	var long, short float64
	for i := range got {
		long, short = long+float64(len(want[i])), short+float64(len(got[i]))
		for n := range 4 {
			there := map[string]int{}
			for at := range max(0, len(want[i])-n) {
				there[strings.Join(want[i][at:at+n+1], " ")]++
			}
			for at := range max(0, len(got[i])-n) {
				all[n]++
				if gram := strings.Join(got[i][at:at+n+1], " "); there[gram] > 0 {
					there[gram]--
					hits[n]++
				}
			}
		}
	}
	sum := 0.0
	for n := range 4 {
		if hits[n] == 0 {
			return 0
		}
		sum += math.Log(hits[n]/all[n]) / 4
	}
	return math.Exp(sum + min(0, 1-long/short))
}
