package llm_test

import (
	"testing"

	"dossier/llm"
)

// A run that is taken up again reads the same reply once more: of several
// spellings of a key it has to take the same one each time.
func TestReadIsTheSameEachTime(t *testing.T) {
	type wanted struct {
		MaxResults int `json:"max_results"`
	}
	s, err := llm.SchemaOf[wanted]()
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		got, err := s.Read(`{"maxResults":1,"max-results":2,"MAX_RESULTS":3,"Max Results":4}`)
		if err != nil || string(got) != `{"max_results":3}` {
			t.Fatalf("%s %v", got, err)
		}
	}
}
