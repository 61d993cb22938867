package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Webhook is an address to which ends of runs are posted.
type Webhook struct {
	Name   string
	URL    URL
	Secret Secret
	Events []string
}

// Webhooks are those of the section webhooks, by their names.
func (c *Config) Webhooks() ([]Webhook, error) {
	bad := &problems{}
	var out []Webhook
	for _, name := range slices.Sorted(maps.Keys(c.WebhookTree)) {
		value := c.WebhookTree[name]
		if value == nil {
			continue // taken back by a higher layer
		}
		w, problem := webhookOf(name, value)
		if problem != "" {
			e := &Error{Key: "webhooks." + name, Problem: problem}
			if s := c.saidOf(name); s != nil {
				e.at(s.origin)
			}
			bad.add(e)
			continue
		}
		out = append(out, w)
	}
	return out, bad.err()
}

// saidOf is the setting that names a webhook, nil if there is none.
func (c *Config) saidOf(name string) *setting {
	st := c.st()
	for i := st.last[schema().byPath["webhooks"].id]; i >= 0; i = st.settings[i].prev {
		if s := &st.settings[i]; s.key == name {
			return s
		}
	}
	return nil
}

func webhookOf(name string, value any) (w Webhook, problem string) {
	var entry struct {
		URL    string   `json:"url"`
		Secret string   `json:"secret"`
		Events []string `json:"events"`
	}
	const form = "it is not as {url: https://host/path, secret: ${VARIABLE}, events: [run.done]}"
	keys, ok := value.(map[string]any)
	if !ok {
		return w, form
	}
	known := []string{"url", "secret", "events"}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(known, key) {
			return w, fmt.Sprintf("it has no key %s: there are %s", shorten(printable(key), 40), strings.Join(known, ", "))
		}
	}
	raw, err := json.Marshal(keys)
	if err != nil || json.Unmarshal(raw, &entry) != nil {
		return w, form
	}
	w = Webhook{Name: name, Secret: NewSecret(entry.Secret), Events: entry.Events}
	if err := w.URL.UnmarshalText([]byte(entry.URL)); err != nil || w.URL == "" {
		return w, "it needs a url such as https://host/path"
	}
	if w.Secret.IsZero() {
		return w, "it needs a secret, by which the other side knows who sends; `dossier webhooks secret` makes one"
	}
	return w, ""
}
