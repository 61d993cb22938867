package storetest

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"dossier/tool/catalog"
)

// tools returns everything that the store knows of tools.
func (f *fixture) tools() []catalog.Record {
	f.Helper()
	records, err := f.store.ToolRecords(f.ctx)
	f.ok(err)
	return records
}

func forecast() catalog.Entry {
	return catalog.Entry{
		Name: "forecast", Origin: "mcp:weather", About: "Weather of the world", Description: "The weather of the next days.",
		Schema: json.RawMessage(`{"type":"object"}`), Tags: []string{"weather"}, Examples: []string{"will it rain", "\xff"},
	}
}

var toolTests = []test{
	{"what is known of tools comes back in order", func(f *fixture) {
		if got := f.tools(); len(got) != 0 {
			f.Fatalf("an empty store knows %v", got)
		}
		other := forecast()
		other.Origin, other.Schema, other.Tags, other.Examples = "builtin", nil, nil, nil
		long := forecast()
		long.Name, long.Description = "archive", strings.Repeat("The weather of the past. ", 4000)
		f.ok(f.store.PutTools(f.ctx, []catalog.Entry{forecast(), other, long}))
		f.same(f.tools(), []catalog.Record{{Entry: other}, {Entry: long}, {Entry: forecast()}})
	}},
	{"a tool that changes keeps its use", func(f *fixture) {
		f.ok(f.store.PutTools(f.ctx, []catalog.Entry{forecast()}))
		use := catalog.Use{Calls: 3, Failures: 1, Time: 7 * time.Second, Last: at, OK: at, Failed: at.Add(-time.Second), Error: "no answer"}
		f.ok(f.store.RecordUse(f.ctx, []catalog.ToolUse{{Origin: "mcp:weather", Name: "forecast", Use: use}}))
		changed := forecast()
		changed.Description, changed.Schema, changed.Tags = "Now with snow.", nil, []string{}
		f.ok(f.store.PutTools(f.ctx, []catalog.Entry{changed}))
		f.same(f.tools(), []catalog.Record{{Entry: changed, Use: use}})
	}},
	{"use adds up, and the last error stays", func(f *fixture) {
		f.ok(f.store.PutTools(f.ctx, []catalog.Entry{forecast()}))
		var want catalog.Use
		for i := range 5 {
			when := at.Add(time.Duration(i) * time.Minute)
			use := catalog.Use{Calls: 1, Time: time.Duration(i), Last: when, OK: when}
			if i == 2 {
				use = catalog.Use{Calls: 1, Failures: 1, Time: 1, Last: when, Failed: when, Error: "down"}
			}
			f.ok(f.store.RecordUse(f.ctx, []catalog.ToolUse{{Origin: "mcp:weather", Name: "forecast", Use: use}}))
			want.Add(use)
		}
		got := f.tools()[0].Use
		f.same(got, want)
		if got.Calls != 5 || got.Failures != 1 || got.Error != "down" || !got.Healthy() {
			f.Fatalf("use: %+v", got)
		}
	}},
	{"use of a tool that is not known is left out", func(f *fixture) {
		f.ok(f.store.PutTools(f.ctx, []catalog.Entry{forecast()}))
		f.ok(f.store.RecordUse(f.ctx, []catalog.ToolUse{
			{Origin: "mcp:weather", Name: "none", Use: catalog.Use{Calls: 1}}, {Origin: "builtin", Name: "forecast", Use: catalog.Use{Calls: 1}},
		}))
		f.same(f.tools(), []catalog.Record{{Entry: forecast()}})
	}},
	{"no use is lost among many writers", func(f *fixture) {
		f.ok(f.store.PutTools(f.ctx, []catalog.Entry{forecast()}))
		var writers sync.WaitGroup
		failed := make(chan error, 8)
		for range 8 {
			writers.Go(func() {
				for range 10 {
					if err := f.store.RecordUse(f.ctx, []catalog.ToolUse{{Origin: "mcp:weather", Name: "forecast", Use: catalog.Use{Calls: 1}}}); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		writers.Wait()
		close(failed)
		for err := range failed {
			f.ok(err)
		}
		if got := f.tools()[0].Calls; got != 80 {
			f.Fatalf("80 calls were counted as %d", got)
		}
	}},
}
