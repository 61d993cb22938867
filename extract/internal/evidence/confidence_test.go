package evidence

import "testing"

// TestConfidenceFalls asks what a passage says, and the same with something that
// it does not.
func TestConfidenceFalls(t *testing.T) {
	passages := []Passage{
		{Above: []string{"Kestrel manual", "Logging"}, Text: "The log file of Kestrel is kept for 30 days. After that it is removed."},
		{Above: []string{"Kestrel manual", "Users"}, Text: "Users are added with the command adduser."},
	}
	of := func(question string) float64 {
		r := ReadAll(question, passages, "en", nil)
		var quoted []Spot
		for i := range r.Pages {
			if unit, _ := r.Top(i); unit >= 0 {
				quoted = append(quoted, Spot{i, unit})
			}
		}
		f := r.Signs(quoted)
		return Confidence(&f)
	}
	asked := of("How many days is the log file of Kestrel kept?")
	for why, question := range map[string]string{
		"another name":       "How many days is the log file of Postfix kept?",
		"another attribute":  "How many days is the warranty of Kestrel valid?",
		"nothing of it":      "How much does the subscription cost?",
		"no such kind there": "Who is the author of the log file of Kestrel?",
	} {
		if p := of(question); p >= asked {
			t.Errorf("%s: %q has %.2f, and what is there %.2f", why, question, p, asked)
		}
	}
	if p := of("the of and"); p != 0 {
		t.Errorf("a question without words has %.2f", p)
	}
	var none [SignSize]float64
	if p := Confidence(&none); p != 0 {
		t.Errorf("without quotes it is %.2f", p)
	}
}
