package catalog

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// invented returns n entries whose words are as frequent as in catalogs: few
// very often, most seldom.
func invented(n int) []Entry {
	dice := rand.New(rand.NewPCG(1, 2))
	spread := rand.NewZipf(dice, 1.1, 8, 12_000)
	known := strings.Fields(politeWords + vagueWords + toolWords)
	syllables := strings.Fields("ba ce di fo gu ka le mi no pu ra se ti vo zu")
	word := func() string {
		i := int(spread.Uint64())
		if i < len(known) {
			return known[i]
		}
		w := ""
		for ; i > 0; i /= len(syllables) {
			w += syllables[i%len(syllables)]
		}
		return w
	}
	phrase := func(words int) string {
		var all []string
		for range words {
			all = append(all, word())
		}
		return strings.Join(all, " ")
	}
	entries := make([]Entry, n)
	for i := range entries {
		properties := map[string]any{}
		for range 3 {
			properties[word()+"_"+word()] = map[string]any{"type": "string", "description": phrase(9)}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
		if err != nil {
			panic(err) // strings always encode
		}
		entries[i] = Entry{
			Name: fmt.Sprintf("%s_%s_%d", word(), word(), i), Origin: fmt.Sprintf("mcp:%d", i/20),
			Description: phrase(14), Schema: schema, Tags: []string{word()},
		}
	}
	return entries
}

func BenchmarkNewIndex5000(b *testing.B) {
	entries := invented(5000)
	b.ReportAllocs()
	for b.Loop() {
		build(entries)
	}
}

func BenchmarkSearch5000(b *testing.B) {
	x := build(invented(5000))
	for name, query := range map[string]string{
		"question": "What is the weather forecast for the city of Paris tomorrow?",
		"task": `Please find the latest papers about wind energy, summarize them in a presentation with a chart of the prices
of electricity, then save everything as /home/me/energy.pptx and send an email with the file to my colleagues.`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Search(b.Context(), query, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecordUse(b *testing.B) {
	c := furnished(b, &shop{}, Options{})
	spec := stubOf(b, office()[0]).Spec()
	for b.Loop() {
		c.RecordUse(spec, time.Millisecond, nil)
	}
}
