package cite_test

import (
	"context"
	"fmt"

	"dossier/cite"
)

func ExampleVerify() {
	ledger, snapshots := cite.NewLedger(), cite.Snapshots{}
	source := ledger.Add(cite.Source{URI: "https://example.org/neva", Title: "The Neva"})
	snapshot := snapshots.Add("The Neva flows from Lake Ladoga to the Gulf of Finland. It is 74 km long.")
	if _, err := ledger.Read(source.Number, snapshot); err != nil {
		fmt.Println(err)
	}

	answer := "The Neva flows from Lake Ladoga [1]. It is “94 km long” [1](https://example.com). It is 74 km long [1]."
	result, err := cite.Verify(context.Background(), answer, ledger, snapshots, cite.Lexical{}, cite.Options{Drop: true})
	if err != nil {
		fmt.Println(err)
	}
	for _, c := range result.Claims {
		fmt.Println(c.Verdict, c.Text)
	}
	fmt.Printf("coverage %.2f: %s\n", result.Coverage, result.Text)
	fmt.Println(source.Link(result.Claims[0].Passages[0], snapshot))
	// Output:
	// supported The Neva flows from Lake Ladoga.
	// misquoted It is “94 km long”.
	// supported It is 74 km long.
	// coverage 0.67: The Neva flows from Lake Ladoga [1]. It is 74 km long [1].
	// https://example.org/neva#:~:text=The%20Neva%20flows%20from%20Lake%20Ladoga
}
