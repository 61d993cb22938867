package llm

import "testing"

// What is wrong with a value is said in the same words each time: a replayed run
// says it again.
func TestComplaintsAreTheSameEachTime(t *testing.T) {
	s, err := SchemaOf[struct{}]()
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for range 50 {
		_, err := s.Read(`{"a":1,"b":2,"c":3,"d":4,"e":5}`)
		if err == nil {
			t.Fatal("unknown fields are accepted")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("%s\n%s", first, err)
		}
	}
}
