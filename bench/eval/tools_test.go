package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestToolFigures(t *testing.T) {
	dir, runs := t.TempDir(), t.TempDir()
	write(t, dir, "tools_livemcp_en/tools.jsonl.gz", `{"server":"Meteo","server_description":"Weather","category":"Life","name":"get_weather","description":"Weather forecast of a city","schema":{"type":"object","properties":{"city":{"type":"string"}}}}
{"server":"Other","name":"get_weather","description":"Weather of a day","schema":{"type":"object"}}
{"server":"Mail","name":"send_email","description":"Send a message","schema":{"type":"object"}}
{"server":"Files","name":"read_file","description":"Read text","schema":{"type":"object"}}`)
	write(t, dir, "tools_livemcp_en/tasks.jsonl.gz", `{"_id":"t1","query":"what is the weather","gold_tools":["get_weather"]}
{"_id":"t2","query":"send an email","gold_tools":["send_email","not_there"]}`)
	write(t, dir, "tools_seal_en/tools.jsonl.gz", `{"api_name":"getForecast","api_description":"Get the weather","field":"Weather/Forecast","parameters":{"city":{"type":"str","description":"where"}}}
{"api_name":"playSong","api_description":"Play a song","field":"Music","parameters":{}}`)
	write(t, dir, "tools_seal_en/dev.jsonl.gz", `{"id":"d1","query":"forecast, then a song","calling":[{"api":"getForecast"},{"api":"playSong"},{"api":"playSong"}]}`)
	write(t, dir, "tools_metatool_en/tools.jsonl.gz", `{"name":"WeatherTool","description":"Forecasts"}
{"name":"NewsTool","description":"Headlines"}`)
	write(t, dir, "tools_metatool_en/single_tool_queries.jsonl.gz", `{"query":"will it rain","tool":"WeatherTool"}
{"query":"xyzzy","tool":"NewsTool"}`)
	write(t, dir, "tools_metatool_en/multi_tool_queries.jsonl.gz", `{"query":"news and weather","tool":["NewsTool","WeatherTool"]}`)
	write(t, dir, "tools_bfcl_en/BFCL_irrelevance.jsonl.gz", `{"id":"i1","question":[[{"role":"system","content":"the weather of a city"},{"role":"user","content":"solve x = 2"}]],"function":[{"name":"get_weather","description":"Weather of a city.","parameters":{"type":"dict"}}]}
{"id":"i2","question":[[{"role":"user","content":"hello"}]],"function":[]}`)
	write(t, dir, "tools_bfcl_en/BFCL_simple.jsonl.gz", `{"id":"r1","question":[[{"role":"user","content":"get the weather of the city of Rome"}]],"function":[{"name":"get_weather","description":"Weather of a city.","parameters":{"type":"dict","properties":{"city":{"type":"string"}}}}]}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir, "-runs", runs)
	if code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	for _, want := range []string{
		"tools_bfcl_en abstain 1.0000 n=2\n", "tools_bfcl_en false-abstain 0.0000 n=1\n",
		"tools_livemcp_en recall@10 0.7500 n=2\n", "tools_livemcp_en all@10 0.5000 n=2\n", "tools_livemcp_en tokens-saved 0.",
		"tools_metatool_en recall@5.single 0.5000 n=2\n", "tools_metatool_en recall@5.multi 1.0000 n=1\n", "tools_metatool_en tokens-saved 0.",
		"tools_seal_en recall@10 1.0000 n=1\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	run, err := os.ReadFile(filepath.Join(runs, "tools_livemcp_en.run"))
	if err != nil || strings.Count(string(run), "t1 Q0 get_weather") != 1 {
		t.Errorf("run file %q, %v", run, err)
	}
	answers, err := os.ReadFile(filepath.Join(runs, "tools_bfcl_en.jsonl"))
	if err != nil || !strings.Contains(string(answers), `{"id":"r1","tools":["get_weather"]}`) {
		t.Errorf("answers %q, %v", answers, err)
	}
}
