package responses

import "encoding/json"

// Response is a whole one, as far as it is. What steers a model and was not
// passed on to one is shown as if nobody had asked for it.
type Response struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"`
	CreatedAt         int64             `json:"created_at"`
	CompletedAt       *int64            `json:"completed_at"`
	Status            string            `json:"status"`
	Background        bool              `json:"background"`
	Error             *Trouble          `json:"error"`
	IncompleteDetails *incomplete       `json:"incomplete_details"`
	Instructions      *string           `json:"instructions"`
	Model             string            `json:"model"`
	Output            []any             `json:"output"`
	Previous          *string           `json:"previous_response_id"`
	Usage             *Usage            `json:"usage"`
	Metadata          map[string]string `json:"metadata"`
	User              *string           `json:"user"`
	SafetyIdentifier  *string           `json:"safety_identifier"`
	PromptCacheKey    *string           `json:"prompt_cache_key"`
	MaxOutputTokens   *int              `json:"max_output_tokens"`
	MaxToolCalls      *int              `json:"max_tool_calls"`
	ParallelToolCalls bool              `json:"parallel_tool_calls"`
	PresencePenalty   float64           `json:"presence_penalty"`
	FrequencyPenalty  float64           `json:"frequency_penalty"`
	Reasoning         reasoningSettings `json:"reasoning"`
	ServiceTier       string            `json:"service_tier"`
	Store             bool              `json:"store"`
	Temperature       float64           `json:"temperature"`
	Text              textSettings      `json:"text"`
	ToolChoice        toolChoice        `json:"tool_choice"`
	Tools             []toolParam       `json:"tools"`
	TopLogprobs       int               `json:"top_logprobs"`
	TopP              float64           `json:"top_p"`
	Truncation        string            `json:"truncation"`
}

// What a response can be.
const (
	queued     = "queued"
	inProgress = "in_progress"
	completed  = "completed"
	failed     = "failed"
	cancelled  = "cancelled"
	unfinished = "incomplete"
)

// blank is a response of which nothing is known.
func blank() Response {
	return Response{
		Object: "response", Status: queued, Output: []any{}, Metadata: map[string]string{}, ParallelToolCalls: true, ServiceTier: "default", Store: true,
		Temperature: 1, Text: textSettings{textFormat{Type: "text"}}, Tools: []toolParam{}, TopP: 1, Truncation: "disabled",
	}
}

// Trouble is why there is no answer.
type Trouble struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type reasoningSettings struct {
	Effort  *string `json:"effort"`
	Summary *string `json:"summary"`
}

type textSettings struct {
	Format textFormat `json:"format"`
}

// textFormat is the form of an answer: text, json_object, or json_schema.
type textFormat struct {
	Type        string          `json:"type"`
	Name        string          `json:"name,omitempty"`
	Description *string         `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      *bool           `json:"strict,omitempty"`
}

// Usage is what the model calls of a response took.
type Usage struct {
	Input        int           `json:"input_tokens"`
	InputDetail  inputDetail   `json:"input_tokens_details"`
	Output       int           `json:"output_tokens"`
	OutputDetail outputDetails `json:"output_tokens_details"`
	Total        int           `json:"total_tokens"`
}

type inputDetail struct {
	Cached int `json:"cached_tokens"`
}

type outputDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}

// The items of which an output consists.
type (
	messageItem struct {
		ID      string     `json:"id"`
		Type    string     `json:"type"`
		Status  string     `json:"status"`
		Role    string     `json:"role"`
		Content []textPart `json:"content"`
	}
	// textPart is the text of a message: input_text, or output_text with citations.
	textPart struct {
		Type        string        `json:"type"`
		Text        string        `json:"text"`
		Annotations *[]annotation `json:"annotations,omitempty"`
		Logprobs    *[]struct{}   `json:"logprobs,omitempty"`
	}
	// annotation is a source at the characters of the text where its mark stands.
	annotation struct {
		Type  string `json:"type"`
		Start int    `json:"start_index"`
		End   int    `json:"end_index"`
		URL   string `json:"url"`
		Title string `json:"title"`
	}
	reasoningItem struct {
		ID      string        `json:"id"`
		Type    string        `json:"type"`
		Status  string        `json:"status"`
		Summary []summaryPart `json:"summary"`
	}
	summaryPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	searchItem struct {
		ID     string       `json:"id"`
		Type   string       `json:"type"`
		Status string       `json:"status"`
		Action searchAction `json:"action"`
	}
	// searchAction is a query (search), or a page that is read (open_page).
	searchAction struct {
		Type    string   `json:"type"`
		Query   string   `json:"query,omitempty"`
		Queries []string `json:"queries,omitempty"`
		URL     string   `json:"url,omitempty"`
	}
	// functionItem is a call of a function of the client's own.
	functionItem struct {
		ID        string `json:"id"`
		Type      string `json:"type"`
		Status    string `json:"status"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	// callItem is the call of a tool that is carried out here: a function_call would
	// ask the client to do it.
	callItem struct {
		ID        string  `json:"id"`
		Type      string  `json:"type"`
		Status    string  `json:"status"`
		Server    string  `json:"server_label"`
		Name      string  `json:"name"`
		Arguments string  `json:"arguments"`
		Output    *string `json:"output"`
		Error     *string `json:"error"`
		Approval  *string `json:"approval_request_id"`
	}
)

// Types of items.
const (
	typeMessage   = "message"
	typeReasoning = "reasoning"
	typeSearch    = "web_search_call"
	typeCall      = "mcp_call"
	typeFunction  = "function_call"
)

// streamed is an event of a stream; which fields there are depends on its type.
type streamed struct {
	Type            string      `json:"type"`
	Number          int64       `json:"sequence_number"`
	Response        *Response   `json:"response,omitempty"`
	OutputIndex     *int        `json:"output_index,omitempty"`
	ItemID          string      `json:"item_id,omitempty"`
	Item            any         `json:"item,omitempty"`
	ContentIndex    *int        `json:"content_index,omitempty"`
	SummaryIndex    *int        `json:"summary_index,omitempty"`
	Part            any         `json:"part,omitempty"`
	AnnotationIndex *int        `json:"annotation_index,omitempty"`
	Annotation      *annotation `json:"annotation,omitempty"`
	Delta           *string     `json:"delta,omitempty"`
	Text            *string     `json:"text,omitempty"`
	Arguments       *string     `json:"arguments,omitempty"`
	Name            string      `json:"name,omitempty"`
	Logprobs        *[]struct{} `json:"logprobs,omitempty"`
}

// errorEvent ends a stream that can't go on. It is not in the log: its number is
// that of the event before it.
type errorEvent struct {
	Type    string  `json:"type"`
	Number  int64   `json:"sequence_number"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
}

type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

type itemList struct {
	Object  string        `json:"object"`
	Data    []messageItem `json:"data"`
	First   *string       `json:"first_id"`
	Last    *string       `json:"last_id"`
	HasMore bool          `json:"has_more"`
}
