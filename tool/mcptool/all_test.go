package mcptool

import (
	"context"
	"errors"

	"dossier/tool"
)

// all asks each server as the catalog does, and returns what they have and what
// is wrong with those that can't be used.
func all(ctx context.Context, c *Client) (tools []tool.Tool, troubles []Trouble) {
	for _, name := range c.Servers() {
		theirs, err := c.Tools(ctx, name)
		if trouble, ok := errors.AsType[*Trouble](err); ok {
			troubles = append(troubles, *trouble)
		}
		tools = append(tools, theirs...)
	}
	return Distinct(tools), troubles
}
