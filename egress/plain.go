// Package egress is the one place where anything leaves the machine. Guarded is
// the client for URLs that come from outside (engines, models, pages). Plain is
// the client for endpoints that the operator configured (a model, a search
// engine), which may well be on this machine or in its network.
package egress

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// PlainConfig says how configured endpoints are reached. The zero value is a
// direct connection with the system's certificates.
type PlainConfig struct {
	// Proxy is the URL of an http, https or socks5 proxy. Without one the
	// connection is direct: the environment's proxy variables are not read.
	Proxy string
	// CAFile is a PEM file of certificates to trust beside the system's.
	CAFile string
	// DialTimeout bounds how long a connection may take to come up; 10 s when
	// it is 0.
	DialTimeout time.Duration
	// MaxIdlePerHost is how many unused connections to one host are kept for
	// the next calls; 2048 when it is 0.
	MaxIdlePerHost int
}

// Plain makes a client. It sets no time limit of its own: callers cancel
// through the context. A redirect to another host is refused: what is sent, a
// prompt or a query, is for the endpoint that was configured.
func Plain(c PlainConfig) (*http.Client, error) {
	if c.DialTimeout <= 0 {
		c.DialTimeout = 10 * time.Second
	}
	if c.MaxIdlePerHost <= 0 {
		c.MaxIdlePerHost = 2048
	}
	t := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: c.DialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: c.DialTimeout,
		ForceAttemptHTTP2:   true,
		// Without pings a dead connection would swallow every call given to it.
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConns:          0, // bounded per host
		MaxIdleConnsPerHost:   c.MaxIdlePerHost,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		// A compressed stream arrives late and costs CPU on both sides.
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if c.Proxy != "" {
		proxy, err := proxyURL(c.Proxy)
		if err != nil {
			return nil, err
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	if c.CAFile != "" {
		pool, err := caPool(c.CAFile)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: t, CheckRedirect: sameHostOnly}, nil
}

func proxyURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		// url.Error repeats the text, which may hold a password.
		return nil, errors.New("proxy: not a URL; use http://host:port, https://host:port or socks5://host:port")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return nil, fmt.Errorf("proxy: scheme %q is not supported; use http, https or socks5", u.Scheme)
	}
	if u.Host == "" {
		return nil, errors.New("proxy: no host in the URL; use http://host:port")
	}
	return u, nil
}

func caPool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("CA file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file %s: no PEM certificate in it; export the authority's certificate as PEM (BEGIN CERTIFICATE)", file)
	}
	return pool, nil
}

const maxRedirects = 10

func sameHostOnly(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	first := via[0]
	downgrade := first.URL.Scheme == "https" && req.URL.Scheme != "https"
	if first.URL.Host == req.URL.Host && !downgrade {
		return nil
	}
	return fmt.Errorf("refused a redirect to %s://%s: it would hand over what is meant for %s; configure the new address if it is right",
		req.URL.Scheme, req.URL.Host, first.URL.Host)
}
