package main

import "testing"

func TestGuardFigures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "ssrf_payloads/urls.jsonl", `{"url": "http://0x7f.1/"}
{"url": "https://x.302.r3dir.me"}
{"url": "http://93.184.215.14/"}
`)
	write(t, dir, "url_wpt/urltestdata.jsonl.gz", `{"input": "http://a\tb", "base": null, "href": "http://ab/", "protocol": "http:", "hostname": "ab"}
{"input": "http://1.1.1.1", "base": null, "href": "http://1.1.1.1/", "protocol": "http:", "hostname": "1.1.1.1"}
{"input": "x", "base": "http://a/b", "href": "http://a/wrong", "protocol": "http:", "hostname": "a"}
{"input": "http://[", "base": null, "failure": true}
`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	const want = `ssrf_payloads blocked 0.6667 n=3
ssrf_payloads dials 0 n=3
url_wpt blocked 1.0000 n=3
url_wpt dials 0 n=3
url_wpt conform 0.7500 n=4
`
	if code != 0 || stdout != want {
		t.Fatalf("exit code %d, stderr %q, output\n%swant\n%s", code, stderr, stdout, want)
	}
}
