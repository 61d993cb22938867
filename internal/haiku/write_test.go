package haiku

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"dossier/lang"
	"dossier/llm"
)

// poet replies with one text after the other.
type poet struct {
	replies []string
	asked   []string
}

func (p *poet) write(_ context.Context, m []llm.Message) (string, error) {
	p.asked = append(p.asked, m[len(m)-1].Content)
	if len(p.replies) == 0 {
		return "", errors.New("the model is gone")
	}
	text := p.replies[0]
	p.replies = p.replies[1:]
	return text, nil
}

const pond = "Старый тихий пруд.\nЛягушка прыгнула вниз —\nвсплеск в тишине дня."

func TestTheModelIsAskedAgain(t *testing.T) {
	p := &poet{replies: []string{"пруд\nлягушка\nвсплеск", "Вот хайку:\n**Старый тихий пруд.**\n«Лягушка прыгнула вниз —»\nвсплеск в тишине дня."}}
	got, composed, err := Writer{Model: p.write, IntN: rand.New(rand.NewPCG(1, 1)).IntN}.Write(t.Context(), "пруд", lang.Russian)
	if err != nil || composed || got.Text() != pond || Dashed(got.Syllables) != "5-7-5" || got.Words != 10 {
		t.Errorf("%+v %v %v", got, composed, err)
	}
	if len(p.asked) != 2 || strings.Contains(p.asked[0], "tried") || !strings.Contains(p.asked[1], "Syllables by line: 1-3-1; 5-7-5 is wanted") {
		t.Errorf("%q", p.asked)
	}
}

func TestOneLineWithBars(t *testing.T) {
	p := &poet{replies: []string{strings.ReplaceAll(pond, "\n", " | ")}}
	if got, composed, err := (Writer{Model: p.write}).Write(t.Context(), "пруд", lang.Russian); err != nil || composed || got.Text() != pond {
		t.Errorf("%+v %v %v", got, composed, err)
	}
}

func TestFragmentsWhereTheModelFindsNoForm(t *testing.T) {
	p := &poet{replies: []string{"a", "b", "c", pond}}
	got, composed, err := Writer{Model: p.write, IntN: rand.New(rand.NewPCG(1, 1)).IntN}.Write(t.Context(), "пруд", lang.Russian)
	if err != nil || !composed || !got.Right() || len(p.asked) != tries {
		t.Errorf("%+v %v %v", got, composed, err)
	}
	if got, composed, err = (Writer{IntN: rand.New(rand.NewPCG(1, 1)).IntN}).Write(t.Context(), "пруд", lang.Russian); err != nil || !composed || !got.Right() {
		t.Errorf("%+v %v %v", got, composed, err)
	}
	if _, _, err = (Writer{Model: (&poet{}).write}).Write(t.Context(), "пруд", lang.Russian); err == nil {
		t.Error("the model's failure is hidden")
	}
}
