package wire

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"dossier/egress"
	"dossier/internal/config"
	"dossier/internal/webhook"
)

// webhooks are the addresses that are told when runs end, and the client that
// tells them. They are the operator's: a request names none.
func webhooks(cfg *config.Config) ([]webhook.Hook, *http.Client, error) {
	named, err := cfg.Webhooks()
	if err != nil {
		return nil, nil, err
	}
	client, err := egress.Plain(egress.PlainConfig{MaxIdlePerHost: 4})
	if err != nil {
		return nil, nil, err
	}
	var hooks []webhook.Hook
	for _, n := range named {
		key, err := webhook.ParseSecret(n.Secret.Reveal())
		if err != nil {
			return nil, nil, &config.Error{Key: "webhooks." + n.Name + ".secret", Problem: err.Error()}
		}
		h := webhook.Hook{Name: n.Name, URL: string(n.URL), Key: key}
		if !strings.HasPrefix(h.URL, "http://") && !strings.HasPrefix(h.URL, "https://") {
			return nil, nil, &config.Error{Key: "webhooks." + n.Name + ".url", Problem: "it has to begin with http:// or https://"}
		}
		for _, name := range n.Events {
			if !slices.Contains(webhook.Events, webhook.Event(name)) {
				return nil, nil, &config.Error{Key: "webhooks." + n.Name + ".events", Problem: fmt.Sprintf("there is no event %q; there are %v", name, webhook.Events)}
			}
			h.Events = append(h.Events, webhook.Event(name))
		}
		hooks = append(hooks, h)
	}
	return hooks, client, nil
}
