package llm_test

import (
	"context"
	"errors"
	"fmt"

	"dossier/llm"
)

// canned stands for a provider.
func canned(reply string) llm.Model {
	return modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: reply}, Finish: llm.FinishStop}, nil
	})
}

// An object is asked for by its Go type. What the model wrote is repaired and
// held to the type's schema; the caller keeps a fallback for the rest.
func ExampleObject() {
	type verdict struct {
		Relevant bool `json:"relevant"`
		Score    int  `json:"score" min:"1" max:"10"`
	}
	for _, reply := range []string{"```json\n{'relevant': true, 'score': '7'}\n```", "I'd rather not."} {
		req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "Is it about foxes?"}}}
		v, info, err := llm.Object[verdict](context.Background(), canned(reply), req, llm.ObjectOptions{})
		if errors.Is(err, llm.ErrNoObject) {
			v = verdict{Relevant: false, Score: 1} // the deterministic fallback
		}
		fmt.Printf("%+v after %d attempts\n", v, info.Attempts)
	}
	// Output:
	// {Relevant:true Score:7} after 1 attempts
	// {Relevant:false Score:1} after 4 attempts
}

// Models that share an endpoint and a key share a governor.
func ExampleGovernors() {
	var governors llm.Governors
	models := &llm.Models{Roles: map[llm.RoleName]llm.Setting{
		llm.ForDefault: {Model: governors.For("models.example", "key").Wrap(canned("hello")), Name: "m"},
	}}
	resp, err := models.For(llm.ForChat).Stream(context.Background(), &llm.Request{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Message.Content, governors.For("models.example", "key").Stats().Successes)
	// Output: hello 1
}
