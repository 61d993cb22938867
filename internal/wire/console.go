package wire

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"

	"dossier/extract"
	"dossier/internal/config"
	"dossier/kb"
	"dossier/lang"
	"dossier/llm/completions"
	"dossier/mode/console"
	"dossier/sources/qa"
)

// newConsole makes the console agent with its services: those of this program, or
// those at the addresses that are configured.
func newConsole(cfg *config.Config, p *Product, s Site) *console.Mode {
	c, client := cfg.Console, p.Agency.client
	services := func(user string, code lang.Code, api *completions.API) (console.RAG, console.Poet) {
		write := console.WriteBy(api, cfg.Log.Verbose)
		var rag console.RAG = &console.LocalRAG{Find: finder(p.Library, s.Active, user, code), Write: write, Lang: code}
		var poet console.Poet = &console.LocalPoet{Write: write, Lang: code, IntN: rand.IntN}
		if c.RAGURL != "" {
			rag = remote(c.RAGURL, client, c)
		}
		if c.HaikuURL != "" {
			poet = remote(c.HaikuURL, client, c)
		}
		return rag, poet
	}
	return console.New(
		console.Parts{Models: p.Hasty, History: historyIn(s.Store), Services: services, Verbose: cfg.Log.Verbose, Log: s.Log},
		ConsoleSettings(cfg),
	)
}

func remote(address config.URL, client *http.Client, c config.Console) *console.Remote {
	return &console.Remote{URL: string(address), HTTP: client, Timeout: c.ServiceTimeout, Key: c.ServiceKey.Reveal()}
}

// ConsoleSettings are those of the console agent. It speaks Russian unless another
// language is configured.
func ConsoleSettings(cfg *config.Config) console.Settings {
	c := cfg.Console
	code := lang.Russian
	if cfg.Lang != "auto" && cfg.Lang != "" {
		code = lang.Code(cfg.Lang)
	}
	return console.Settings{
		HistoryLimit: c.HistoryLimit, MessageMaxLen: c.MessageMaxLen, QuestionMaxLen: c.QuestionMaxLen, ThemeMaxLen: c.ThemeMaxLen, TopK: c.TopK,
		ExitOnLLMError: c.ExitOnLLMError, ExitCommands: c.ExitCommands, HelpCommands: c.HelpCommands, Lang: code,
	}
}

// finder finds passages in the collection in use, if the user may ask it, or in the only
// one that they have.
func finder(library *kb.Library, active func(context.Context) (string, error), user string, code lang.Code) qa.Find {
	return func(ctx context.Context, question string, topK int) ([]kb.Hit, extract.Weights, error) {
		name, err := active(ctx)
		if err != nil {
			return nil, nil, err
		}
		list, err := library.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		list = slices.DeleteFunc(list, func(c kb.Collection) bool { return !library.Sees(user, c) })
		c, ok := console.Choose(list, name)
		if !ok {
			return nil, nil, errors.New(lang.Text(code, "console.no-documents"))
		}
		return qa.In(library, c.ID)(ctx, question, topK)
	}
}
