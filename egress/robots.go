package egress

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/temoto/robotstxt"
)

const (
	robotsBytes   = 512 << 10 // what is read of a robots.txt, at least 500 KiB by RFC 9309
	robotsKept    = 24 * time.Hour
	robotsRetried = 5 * time.Minute // after which a site whose file could not be had is asked again
	maxRobots     = 4096
)

// rules are the robots.txt of one origin, for our user agent.
type rules struct {
	turn  chan struct{}    // held by who reads or loads the rest
	group *robotstxt.Group // nil allows everything
	err   error            // nothing is allowed, and why
	until time.Time        // when they are asked for again
}

type robots struct {
	mu      sync.Mutex
	origins map[string]*rules
}

// allowed says whether robots.txt lets us read t; the error says why not.
func (c *Client) allowed(ctx context.Context, t *target) error {
	r := c.rules(t.origin())
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if time.Now().After(r.until) {
		if err := c.loadRules(ctx, t, r); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	if r.group == nil {
		return nil
	}
	plain, err := url.PathUnescape(t.path)
	if err != nil || !r.group.Test(t.path) || !r.group.Test(plain) { // an escape does not lead around a rule
		return &Error{Reason: Robots, Why: "the site's robots.txt disallows it"}
	}
	return nil
}

func (c *Client) rules(origin string) *rules {
	c.robots.mu.Lock()
	defer c.robots.mu.Unlock()
	r := c.robots.origins[origin]
	if r == nil {
		if len(c.robots.origins) >= maxRobots {
			clear(c.robots.origins)
		}
		r = &rules{turn: make(chan struct{}, 1)}
		c.robots.origins[origin] = r
	}
	return r
}

// loadRules fetches the file. As RFC 9309 has it, a site that has none allows
// everything and one that cannot give it disallows everything. The error is
// one of the way there, which the page would meet as well; it is not
// remembered.
func (c *Client) loadRules(ctx context.Context, t *target, r *rules) error {
	at := *t
	at.path, at.fragment = "/robots.txt", ""
	conf := c.conf
	conf.MaxWire, conf.MaxBody = robotsBytes, robotsBytes
	got, err := c.follow(ctx, &at, &conf, false)
	r.group, r.err = nil, nil
	kept := robotsKept
	var e *Error
	switch {
	case err == nil:
		r.group = c.group(got.Body)
	case !errors.As(err, &e):
		return err
	case e.Reason == Status && e.Code >= 500:
		r.err, kept = &Error{Reason: Robots, Why: "the site's robots.txt cannot be had, so nothing may be read", Err: err}, robotsRetried
	case e.Reason == Status, e.Reason == Redirects, e.Reason == Encoding, e.Reason == TooLarge, e.Reason == Ratio:
		// What is there is no robots.txt.
	default:
		return err
	}
	if r.group != nil && r.group.CrawlDelay > 0 {
		c.manners.slow(t.host, r.group.CrawlDelay)
	}
	r.until = time.Now().Add(kept)
	return nil
}

// group finds the rules for our user agent in a robots.txt, nil if it has
// none that can be read.
func (c *Client) group(file []byte) *robotstxt.Group {
	data, err := robotstxt.FromBytes(file)
	if err != nil || data == nil {
		return nil
	}
	return data.FindGroup(c.token)
}

// productToken is the first word of a user agent, without its version: what
// robots.txt knows us by.
func productToken(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	name, _, _ = strings.Cut(name, " ")
	return name
}
