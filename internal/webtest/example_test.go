package webtest_test

import (
	"context"
	"fmt"
	"strings"

	"dossier/internal/webtest"
)

func Example() {
	w, err := webtest.Start(webtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	w.Break(webtest.Fault{Kind: webtest.RateLimited, Times: 1}) // of the engine at w.Searx()

	got, err := w.Client().Fetch(context.Background(), "http://short.example/quernel")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got.URL, strings.Contains(string(got.Body), "port 7431"))
	fmt.Println(w.Fetches()[got.URL], len(w.Searches()))
	// Output:
	// http://quernel.example/docs/4.2/install true
	// 1 0
}
