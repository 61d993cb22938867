package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"dossier/internal/base/datadir"
	"dossier/internal/base/term"
	"dossier/internal/wire"
	"dossier/lang/terms"
)

type dictCmd struct {
	List   dictList   `cmd:"" default:"withargs" help:"List the dictionaries, those that are installed on this machine too."`
	Add    dictAdd    `cmd:"" help:"Add a dictionary from a file."`
	Remove dictRemove `cmd:"" aliases:"rm" help:"Forget a dictionary that was added; the file stays."`
}

func (dictCmd) Help() string {
	return `A question finds documents in another language of English, Russian and Chinese:
its words are looked up in dictionaries. Those that come with the program know
the common words. Add one for the words of your trade. Those of dictd that are
installed ("apt install mueller7-dict") are found by themselves (kb.dictd says
where) and asked for words that the others don't know.

` + examples("dossier dict list", "dossier dict add glossary.tsv", "dossier dict add /usr/share/dictd/mueller7.index", "dossier dict remove glossary")
}

type dictAdd struct {
	File string `arg:"" help:"The dictionary."`
	Name string `placeholder:"NAME" help:"What it is called (default: the name of the file)."`
}

func (dictAdd) Help() string {
	return `Reads these formats; the first lines tell which one it is:

  TSV     term, tab, translations; commas part them, semicolons part senses
  CEDICT  .u8 or .txt as CC-CEDICT is published, also with .gz
  dictd   .index with .dict or .dict.dz beside it; name either
  DSL     .dsl, also with .dz

One side has to be English, the other Russian or Chinese; which is which is
seen from the letters. A packed copy is kept in the data directory, so that the
file may go. It is used from the next command on.

` + examples("dossier dict add glossary.tsv", "dossier dict add cedict_1_0_ts_utf-8_mdbg.txt.gz --name cedict")
}

func (c *dictAdd) Run(a *app) error {
	shelf, err := a.dictionaries()
	if err != nil {
		return err
	}
	path, err := a.path(c.File)
	if err != nil {
		return err
	}
	if err := datadir.Make(a.config.DataDir); err != nil {
		return err
	}
	e, err := shelf.Add(path, c.Name)
	switch {
	case errors.Is(err, terms.ErrKnown):
		return &failure{code: exitUsage, message: term.Line(err.Error()), hint: "another --name adds it beside; `dossier dict remove NAME` forgets the old one"}
	case errors.Is(err, terms.ErrLanguages):
		return &failure{code: exitUsage, message: term.Line(err.Error()), hint: "other languages can't be searched this way yet; `dossier dict add --help` tells the formats"}
	case errors.Is(err, fs.ErrNotExist):
		return &failure{code: exitUsage, message: term.Line(err.Error()), hint: "is the path right?"}
	case err != nil:
		return &failure{code: exitUsage, message: term.Line(err.Error()), hint: "`dossier dict add --help` tells the formats"}
	}
	if a.JSON {
		printJSON(a.proc.Stdout, e)
		return nil
	}
	_, err = fmt.Fprintf(a.proc.Stdout, "added %s: %s\n", term.Line(e.Name), contents(e))
	return err
}

// contents says what is in a dictionary.
func contents(e terms.Entry) string {
	return fmt.Sprintf("%s-English, %d terms, %s", e.Lang.Name(), e.Terms, e.Format)
}

type dictList struct{}

func (dictList) Help() string { return examples("dossier dict list", "dossier dict list --json") }

func (dictList) Run(a *app) error {
	shelf, err := a.dictionaries()
	if err != nil {
		return err
	}
	list, err := shelf.List()
	if err != nil {
		return err
	}
	list = append(terms.BuiltIn(), list...)
	if a.JSON {
		for _, e := range list {
			printJSON(a.proc.Stdout, e)
		}
		return nil
	}
	var b strings.Builder
	for _, e := range list {
		what := contents(e)
		if e.Problem != "" {
			what = "not used: " + e.Problem
		}
		fmt.Fprintf(&b, "%-20s  %s\n", term.Line(e.Name), term.Line(what))
		from := e.Source
		if e.Title != "" {
			from = e.Title + ", " + from
		}
		if e.Installed {
			from += " (installed)"
		}
		fmt.Fprintf(&b, "    %s\n", term.Line(from))
	}
	_, err = a.proc.Stdout.Write([]byte(b.String()))
	return err
}

type dictRemove struct {
	Name string `arg:"" help:"The dictionary."`
}

func (dictRemove) Help() string { return examples("dossier dict remove glossary") }

func (c dictRemove) Run(a *app) error {
	shelf, err := a.dictionaries()
	if err != nil {
		return err
	}
	err = shelf.Remove(c.Name)
	if errors.Is(err, terms.ErrNoDictionary) {
		return &failure{code: exitUsage, message: term.Line(err.Error()), hint: "`dossier dict list` names them; those that come with the program or are installed can't be removed here"}
	}
	if err == nil {
		a.notef("forgot %s", term.Line(c.Name))
	}
	return err
}

// dictionaries is where those of the data directory are kept.
func (a *app) dictionaries() (terms.Shelf, error) {
	cfg, err := a.settings()
	if err != nil {
		return terms.Shelf{}, err
	}
	return wire.Dictionaries(cfg, cfg.DataDir), nil
}
