package gigachat

import "context"

// FetchToken sees to it that the client has a token.
func (c *Client) FetchToken(ctx context.Context) error {
	_, err := c.tokens.get(ctx)
	return err
}
