package index_test

import (
	"fmt"

	"dossier/index"
)

func Example() {
	docs := map[string]index.Doc{
		"neva":  {ID: "neva", Title: "Neva", Text: "The Neva flows from Lake Ladoga to the Gulf of Finland."},
		"volga": {ID: "volga", Title: "Volga", Text: "The Volga flows into the Caspian Sea."},
	}
	b := index.NewBuilder()
	b.Add(docs["neva"])
	b.Add(docs["volga"])
	segment, err := index.Open(b.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	x := index.New(segment)
	hits, err := x.Search(index.Query{Text: "which river flowed to a sea?", Limit: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	text := docs[hits[0].ID].Text
	fmt.Println(hits[0].ID)
	for _, s := range x.Highlight("which river flowed to a sea?", text) {
		fmt.Println(text[s.Start:s.End])
	}
	// Output:
	// volga
	// flows
	// Sea
}
