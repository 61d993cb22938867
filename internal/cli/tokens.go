package cli

import (
	"fmt"
	"strings"
	"time"

	"dossier"
	"dossier/internal/access"
	"dossier/lang"
)

type tokensCmd struct {
	List   tokensList   `cmd:"" default:"withargs" help:"List the tokens; what they are is kept nowhere."`
	Create tokensCreate `cmd:"" help:"Make a token for a user, and print it once."`
	Revoke tokensRevoke `cmd:"" help:"Make tokens invalid at once."`
}

func (tokensCmd) Help() string {
	return `Whoever reaches dossier serve from another machine shows a token. A user sees
their own runs, sessions, collections, templates and instances, and none of
others; a token of the operator sees all.

Scopes: read (see), run (start runs and tell them something), kb (fill and delete
collections), agents (change templates and instances), tools (call tools by
themselves), metrics, admin (of the operator).

` + examples("dossier tokens create ann", "dossier tokens create bob --scope read", "dossier tokens revoke 4fq2w7x3ab")
}

type tokensList struct{}

func (tokensList) Help() string { return examples("dossier tokens list", "dossier tokens list --json") }

func (tokensList) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		list, err := l.Tokens(a.ctx)
		if err != nil {
			return err
		}
		if a.JSON {
			for _, t := range list {
				printJSON(a.proc.Stdout, t)
			}
			return nil
		}
		if len(list) == 0 {
			a.notef("%s", lang.Text(a.locale(), "tokens.none"))
			return nil
		}
		rows := make([][]string, len(list))
		for i, t := range list {
			whose, until, used := t.User, "-", "-"
			if whose == "" {
				whose = "(operator)"
			}
			if !t.Expires.IsZero() {
				until = day(t.Expires)
			}
			if !t.Used.IsZero() {
				used = day(t.Used)
			}
			rows[i] = []string{t.ID, whose, strings.ReplaceAll(access.Names(t.Scopes), ", ", ","), until, used, t.Note}
		}
		return a.printRows(rows)
	})
}

type tokensCreate struct {
	User     string        `arg:"" optional:"" help:"Whose token it is."`
	Operator bool          `help:"Make a token of the operator, who sees all, instead of one of a user."`
	Scope    []string      `placeholder:"SCOPE" help:"What it allows; may be repeated (default: read and run, of the operator everything)."`
	Expires  time.Duration `placeholder:"TIME" help:"How long it is valid, as 720h (default: until it is revoked)."`
	Note     string        `placeholder:"TEXT" help:"What it is for."`
}

func (tokensCreate) Help() string {
	return "The token stands on standard output, and is kept nowhere.\n\n" +
		examples("dossier tokens create ann --note laptop", "dossier tokens create ann --scope read --scope run --scope kb --expires 720h", "dossier tokens create --operator --scope metrics")
}

func (c tokensCreate) Run(a *app) error {
	code := a.locale()
	if (c.User == "") != c.Operator {
		return &failure{code: exitUsage, message: lang.Text(code, "tokens.whose"), hint: "dossier tokens create USER"}
	}
	scopes, err := access.ParseScopes(c.Scope)
	if err != nil {
		return err
	}
	t := dossier.Token{User: c.User, Scopes: scopes, Note: c.Note}
	if c.Expires != 0 {
		t.Expires = time.Now().Add(c.Expires)
	}
	return a.with(a.ctx, func(l *link) error {
		made, err := l.CreateToken(a.ctx, t)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, made)
			return nil
		}
		a.notef("%s", lang.Text(code, "tokens.once", "id", made.ID))
		_, err = fmt.Fprintln(a.proc.Stdout, made.Text)
		return err
	})
}

type tokensRevoke struct {
	IDs []string `arg:"" name:"id" help:"The tokens, by the ids that the list shows."`
}

func (tokensRevoke) Help() string { return examples("dossier tokens revoke 4fq2w7x3ab") }

func (c tokensRevoke) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		for _, id := range c.IDs {
			if err := l.RevokeToken(a.ctx, id); err != nil {
				return err
			}
			a.notef("%s", lang.Text(a.locale(), "tokens.revoked", "id", id))
		}
		return nil
	})
}
