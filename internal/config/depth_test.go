package config

import "testing"

// Each searching mode has its own numbers, by the names that they were asked for
// with; what is said of deep_search alone counts for all.
func TestDepths(t *testing.T) {
	type depth struct{ rounds, queries, results, topK, pages int }
	of := func(d Depth) depth {
		return depth{d.MaxIterations, d.Queries, d.MaxResults, d.RerankTopK, d.ScrapeTopN}
	}
	for _, c := range []struct {
		name               string
		src                Sources
		yaml               string
		web, deep, quality depth
	}{
		{"by themselves", Sources{}, "", depth{2, 3, 8, 6, 4}, depth{6, 3, 8, 6, 8}, depth{25, 3, 8, 6, 8}},
		{
			"the seed's variables", Sources{Env: []string{"DEEP_SEARCH_QUERIES=4", "DEEP_SEARCH_MAX_RESULTS=9", "DEEP_SEARCH_RERANK_TOP_K=7", "DEEP_SEARCH_SCRAPE_TOP_N=5", "SPEED_MAX_ITERATIONS=3", "BALANCED_MAX_ITERATIONS=7", "QUALITY_MAX_ITERATIONS=30"}}, "",
			depth{3, 4, 9, 7, 5}, depth{7, 4, 9, 7, 5}, depth{30, 4, 9, 7, 5},
		},
		{
			"each its own", Sources{Env: []string{"DEEP_SEARCH_SCRAPE_TOP_N=5", "WEB_SEARCH_SCRAPE_TOP_N=2", "QUALITY_SCRAPE_TOP_N=11"}}, "",
			depth{2, 3, 8, 6, 2}, depth{6, 3, 8, 6, 5}, depth{25, 3, 8, 6, 11},
		},
		{
			"the seed's names in a file", Sources{}, "deep_search_scrape_top_n: 5\nspeed_max_iterations: 4\n",
			depth{4, 3, 8, 6, 5}, depth{6, 3, 8, 6, 5}, depth{25, 3, 8, 6, 5},
		},
		{
			"sections", Sources{}, "web_search: {scrape_top_n: 3, queries: 1}\ndeep_search: {scrape_top_n: 9, max_iterations: 5}\nquality: {rerank_top_k: 12}\n",
			depth{2, 1, 8, 6, 3}, depth{5, 3, 8, 6, 9}, depth{25, 3, 8, 12, 9},
		},
		{
			"a mode's own in a lower layer", Sources{Env: []string{"WEB_SEARCH_SCRAPE_TOP_N=2"}, Flags: map[string]string{"deep_search_scrape_top_n": "7"}}, "",
			depth{2, 3, 8, 6, 2}, depth{6, 3, 8, 6, 7}, depth{25, 3, 8, 6, 7},
		},
		{
			"flags", Sources{Flags: map[string]string{"quality.scrape_top_n": "10", "web_search_max_results": "3", "deep_search.max_results": "20"}}, "",
			depth{2, 3, 3, 6, 4}, depth{6, 3, 20, 6, 8}, depth{25, 3, 20, 6, 10},
		},
		{
			"the names before", Sources{}, "web_search: {speed_iterations: 3, balanced_iterations: 4, quality_iterations: 5, deep_scrape_top_n: 6, scrape_top_n: 2}\n",
			depth{3, 3, 8, 6, 2}, depth{4, 3, 8, 6, 6}, depth{5, 3, 8, 6, 6},
		},
	} {
		cfg := mustLoad(t, c.src, yamlFile(c.yaml))
		if web, deep, quality := of(cfg.WebSearch), of(cfg.DeepSearch), of(cfg.Quality); web != c.web || deep != c.deep || quality != c.quality {
			t.Errorf("%s: %v %v %v", c.name, web, deep, quality)
		}
	}
}
