// Package llmtest is a deterministic model server for tests and for trying
// Dossier without a key, and the conformance suite of the llm.Model port.
//
// The server speaks three dialects driven by one script: OpenAI's
// (/v1/chat/completions, /v1/embeddings, /v1/models), Anthropic's
// (/v1/messages) and GigaChat's (/api/v2/oauth, /api/v1/chat/completions,
// /api/v1/embeddings, /api/v1/models).
//
// Without a script it answers everything: text in the language of the
// question, an instance of the JSON schema that was asked for, a call of the
// first tool when a call is required. A Script changes that with rules:
//
//	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
//		{Schema: "plan", Reply: llmtest.JSON(map[string]any{"steps": []string{"search"}})},
//		{Role: "researcher", ToolResults: new(0), Reply: llmtest.CallTool("web_search", `{"query":"x"}`)},
//		{Turn: 3, Fault: &llmtest.Fault{Kind: llmtest.RateLimit, RetryAfter: 2 * time.Second}},
//		{Fault: &llmtest.Fault{Kind: llmtest.Cut, After: 2, Probability: 0.1}},
//	}})
//
// The same script as a file, for the command dossier-llmtest, is in
// [Parse].
//
// Rules are tried in order. The first that fits and has a fault (drawn, if it
// has a probability) sets the fault, the first that fits and has a reply sets
// the reply and ends the search; a rule without a reply lets it go on. So a
// rule with only a fault bends whatever reply the later rules give.
//
// The same request gets the same reply, however many run at once: ids, vectors
// and drawn faults come from a hash of the request's body, the seed and how
// often this very body was seen. Only Turn and First depend on the order of
// calls.
package llmtest
