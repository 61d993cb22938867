package extract_test

import (
	"fmt"

	"dossier/extract"
)

func Example() {
	found := []extract.Passage{
		{ID: "tesla.md", Title: "Nikola Tesla", Text: "Nikola Tesla was an inventor. He was born in Smiljan in 1856. He died in New York."},
		{ID: "edison.md", Title: "Thomas Edison", Text: "Edison had 1,093 patents. He was born in Ohio."},
	}
	answer := extract.Select("Where was Nikola Tesla born?", found, nil, extract.Options{Words: 12})
	fmt.Println(answer.Answered)
	for _, s := range answer.Quotes {
		fmt.Printf("%s: %s\n", found[s.Passage].ID, s.In(found))
	}
	// Output:
	// true
	// tesla.md: Nikola Tesla was an inventor. He was born in Smiljan in 1856.
}
