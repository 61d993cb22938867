package a2atool

import (
	"context"

	"dossier/tool"
)

// all reads the card of each agent as the catalog does, and returns their tools
// and what is wrong with those that can't be used.
func all(ctx context.Context, c *Client) (tools []tool.Tool, troubles []Trouble) {
	for _, a := range c.agents {
		t, trouble := c.Tool(ctx, a.Name)
		if trouble != nil {
			troubles = append(troubles, *trouble)
			continue
		}
		tools = append(tools, t)
	}
	return tools, troubles
}
