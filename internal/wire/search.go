package wire

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"

	"dossier/egress"
	"dossier/internal/base/logs"
	"dossier/internal/base/usage"
	"dossier/internal/config"
	"dossier/lang/terms"
	"dossier/llm"
	"dossier/reader"
	"dossier/reader/chromium"
	"dossier/search"
	"dossier/search/rerank"
	"dossier/sources"
)

// outside is how runs reach the web.
type outside struct {
	web       *sources.Web
	pages     *reader.Recall
	rerankers map[string]search.Reranker
	rerank    string // the way to rank results
	redactor  *logs.Redactor
	closers   []func() error
}

// reach puts together the engines that are set up, the reader of pages and the
// rerankers.
func reach(cfg *config.Config, s Site, files *reader.Reader, models *llm.Models, words *terms.Dictionary) (*outside, error) {
	guard, err := guardOf(cfg)
	if err != nil {
		return nil, err
	}
	client := egress.Guarded(guard)
	o := &outside{rerankers: make(map[string]search.Reranker), redactor: new(logs.Redactor)}
	for _, secret := range cfg.Secrets() {
		o.redactor.Add(secret.Reveal())
	}
	o.closers = append(o.closers, func() error { client.Close(); return nil })
	fetcher := &reader.Fetcher{Client: client, Reader: reader.Cached(files, filepath.Join(s.Dir, "cache", "text"), int64(cfg.Search.CacheMB)<<20)}
	if cfg.Search.Browser {
		browser := chromium.New(chromium.Config{Guard: client, Log: s.Log})
		o.closers = append(o.closers, func() error { browser.Close(); return nil })
		fetcher.Browser = browser
	}
	kept := search.Dir(filepath.Join(s.Dir, "cache", "web"), int64(cfg.Search.CacheMB)<<20)
	o.pages = reader.Recalled(fetcher, kept, cfg.Search.CacheTTL)
	o.closers = append([]func() error{o.pages.Close}, o.closers...)
	engines, missing, err := o.connectEngines(cfg, kept, s.Engines)
	if err == nil {
		err = o.connectRerankers(cfg, models)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	rules := search.Rules{BlockedDomains: cfg.Search.BlockedDomains, BlockedKeywords: cfg.Search.BlockedKeywords}
	if err := rules.Check(); err != nil {
		return nil, errors.Join(&usage.Error{Message: "search: " + err.Error(), Hint: "correct search.blocked_domains or search.blocked_keywords"}, o.close())
	}
	o.web = &sources.Web{Engines: engines, Missing: missing, Pages: o.pages, Allowed: client.Check, Rules: rules}
	if cfg.Search.Translate {
		o.web.Terms = words
	}
	return o, nil
}

func (o *outside) close() error {
	var errs []error
	for _, c := range o.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// guardOf says what pages may be read.
func guardOf(cfg *config.Config) (egress.GuardConfig, error) {
	g := egress.GuardConfig{Timeout: cfg.Search.PageTimeout, MinDelay: max(1, cfg.Search.PageDelay), PerHost: cfg.Search.PagesPerSite}
	for _, text := range cfg.Search.AllowNetworks {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return g, &usage.Error{Message: fmt.Sprintf("search.allow_networks: %q is no network", text), Hint: "write it as 10.1.0.0/16"}
		}
		g.AllowPrefixes = append(g.AllowPrefixes, p)
	}
	for _, text := range cfg.Search.AllowPorts {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return g, &usage.Error{Message: fmt.Sprintf("search.allow_ports: %q is no port", text), Hint: "write it as 8080"}
		}
		g.AllowPorts = append(g.AllowPorts, uint16(n))
	}
	return g, nil
}

// The names that search.rerank may have, beside those of sources.
const (
	rerankAuto       = "auto"
	rerankEndpoint   = "endpoint"
	rerankEmbeddings = "embeddings"
)

// connectRerankers chooses what ranks results: what is configured, or the first
// that is set up of an endpoint, embeddings and a model.
func (o *outside) connectRerankers(cfg *config.Config, models *llm.Models) error {
	c := cfg.Search
	if c.RerankURL != "" {
		client, err := egress.Plain(egress.PlainConfig{})
		if err != nil {
			return err
		}
		ranks, err := rerank.New(rerank.Config{URL: string(c.RerankURL), Key: c.RerankAPIKey.Reveal(), Model: c.RerankModel}, client)
		if err != nil {
			return err
		}
		o.rerankers[rerankEndpoint] = search.DiscreetReranker(ranks, o.redactor)
	}
	if e := embedder(models); e != nil {
		o.rerankers[rerankEmbeddings] = sources.Meaning{Embedder: e}
	}
	o.rerank = c.Rerank
	if c.Rerank != rerankAuto {
		if o.rerankers[c.Rerank] == nil && (c.Rerank == rerankEndpoint || c.Rerank == rerankEmbeddings) {
			return &usage.Error{Message: "search.rerank is " + c.Rerank + ", which is not set up", Hint: "set search.rerank_url or models.embeddings, or leave search.rerank at auto"}
		}
		return nil
	}
	o.rerank = sources.ByWords
	if models.Setting(llm.ForSummarizer).Model != nil {
		o.rerank = sources.ByModel
	}
	for _, name := range []string{rerankEmbeddings, rerankEndpoint} {
		if o.rerankers[name] != nil {
			o.rerank = name
		}
	}
	return nil
}
