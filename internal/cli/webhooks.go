package cli

import (
	"fmt"
	"strings"

	"dossier"
	"dossier/internal/webhook"
	"dossier/lang"
)

type webhooksCmd struct {
	List       webhooksList       `cmd:"" default:"withargs" help:"List the addresses that are told when runs end."`
	Deliveries webhooksDeliveries `cmd:"" help:"List what was sent to them, and what became of it."`
	Test       webhooksTest       `cmd:"" help:"Send a message that says nothing, to see whether it is taken."`
	Retry      webhooksRetry      `cmd:"" help:"Send messages again."`
	Secret     webhooksSecret     `cmd:"" help:"Make a secret for a webhook, and print it."`
}

func (webhooksCmd) Help() string {
	return `A webhook is an address to which dossier serve posts a message when a run is
done, failed or cancelled and, if it is to, when one waits for an answer. Messages
are signed as Standard Webhooks lays down, and sent again, for most of a day,
until they are taken. Webhooks stand in the configuration:

  webhooks:
    team:
      url: https://example.org/hooks/dossier
      secret: ${DOSSIER_WEBHOOK_SECRET}
      events: [run.done, run.failed, run.cancelled, run.waiting]

` + examples("dossier webhooks secret", "dossier webhooks test team", "dossier webhooks deliveries --state given_up")
}

type webhooksList struct{}

func (webhooksList) Help() string {
	return examples("dossier webhooks", "dossier webhooks list --json")
}

func (webhooksList) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		list, err := l.Webhooks(a.ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 && !a.JSON {
			a.notef("%s", lang.Text(a.locale(), "webhooks.none"))
		}
		var rows [][]string
		for _, h := range list {
			if a.JSON {
				printJSON(a.proc.Stdout, h)
				continue
			}
			events := make([]string, len(h.Events))
			for i, e := range h.Events {
				events[i] = string(e)
			}
			rows = append(rows, []string{h.Name, h.Host, strings.Join(events, ",")})
		}
		return a.printRows(rows)
	})
}

type webhooksDeliveries struct {
	Hook  string `placeholder:"NAME" help:"Only those to this webhook."`
	About string `name:"run" placeholder:"ID" help:"Only those about this run."`
	State string `placeholder:"STATE" enum:",pending,delivered,given_up" default:"" help:"Only those that are pending, delivered or given_up."`
	Limit int    `short:"n" default:"20" placeholder:"N" help:"How many (default 20)."`
}

func (webhooksDeliveries) Help() string {
	return examples("dossier webhooks deliveries", "dossier webhooks deliveries --state pending --json")
}

func (c webhooksDeliveries) Run(a *app) error {
	if c.Limit <= 0 {
		return &failure{code: exitUsage, message: "--limit has to be more than 0"}
	}
	return a.with(a.ctx, func(l *link) error {
		list, err := l.Deliveries(a.ctx, dossier.DeliveryFilter{Hook: c.Hook, Run: c.About, State: webhook.State(c.State), Limit: c.Limit})
		if err != nil {
			return err
		}
		code := a.locale()
		if len(list) == 0 && !a.JSON {
			a.notef("%s", lang.Text(code, "webhooks.nothing"))
		}
		var rows [][]string
		for _, d := range list {
			if a.JSON {
				printJSON(a.proc.Stdout, d)
				continue
			}
			state := lang.Text(code, "webhooks.state."+string(d.State))
			if !d.Next.IsZero() && d.Attempts > 0 {
				state += ", " + lang.Text(code, "webhooks.next", "time", day(d.Next))
			}
			rows = append(rows, []string{d.ID, day(d.Created), d.Hook, string(d.Event), d.Run, state, lang.Text(code, "webhooks.attempts", "n", d.Attempts), d.Error})
		}
		return a.printRows(rows)
	})
}

type webhooksTest struct {
	Name string `arg:"" help:"The webhook."`
}

func (webhooksTest) Help() string {
	return "The message is sent by dossier serve, as all are.\n\n" + examples("dossier webhooks test team && dossier webhooks deliveries -n 1")
}

func (c webhooksTest) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		d, err := l.TryWebhook(a.ctx, c.Name)
		return a.sentLater(d, err)
	})
}

type webhooksRetry struct {
	IDs []string `arg:"" name:"id" help:"The messages, by the ids that deliveries shows."`
}

func (webhooksRetry) Help() string {
	return examples("dossier webhooks retry msg_5f0c1c2e9f4d4a1b8e3a7c66")
}

func (c webhooksRetry) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		for _, id := range c.IDs {
			d, err := l.RetryDelivery(a.ctx, id)
			if err := a.sentLater(d, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// sentLater says that a message is about to be sent.
func (a *app) sentLater(d dossier.Delivery, err error) error {
	if err != nil {
		return err
	}
	if a.JSON {
		printJSON(a.proc.Stdout, d)
		return nil
	}
	a.notef("%s", lang.Text(a.locale(), "webhooks.queued", "id", d.ID, "name", d.Hook))
	return nil
}

type webhooksSecret struct{}

func (webhooksSecret) Help() string {
	return `The secret is kept nowhere: give it to both sides, here as a variable that the
configuration names.

` + examples("dossier webhooks secret")
}

func (webhooksSecret) Run(a *app) error {
	_, err := fmt.Fprintln(a.proc.Stdout, webhook.NewSecret())
	return err
}
