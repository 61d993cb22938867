package dossier

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/internal/store/memory"
	"dossier/report"
)

// manuals are excerpts in the structure of real ones.
var manuals = map[string]string{
	"db/runtime-memory.html": `<html><head><title>Memory</title></head><body><h1>20.4. Resource Consumption</h1><h2>20.4.1. Memory</h2>
<dl><dt><code>shared_buffers</code> (integer)</dt><dd><p>Sets how much memory the server takes for buffers that its processes share.
The default is typically 128 megabytes, less where the kernel does not allow it. The value must be at least 128 kilobytes.</p></dd>
<dt><code>temp_buffers</code> (integer)</dt><dd><p>Sets the most memory that a session takes for temporary tables. The default is eight megabytes.</p></dd></dl></body></html>`,
	"db/plans.html": `<html><head><title>Using EXPLAIN</title></head><body><h1>Using EXPLAIN</h1><p>The buffers option tells what a plan read:</p>
<pre>Buffers: shared hit=2 read=4</pre><p>Buffers that are shared by all and were hit did not have to be read from disk. Shared buffers are counted for each node.</p></body></html>`,
	"db/isolation.html": `<html><head><title>Transaction Isolation</title></head><body><h1>Transaction Isolation Levels</h1>
<p>A transaction sees its own changes. At the level Read Committed, which is the default, each command sees only what was committed before it began.</p></body></html>`,
	"db/disk-full.html": `<html><head><title>Disk Full Failure</title></head><body><h1>Disk Full Failure</h1>
<p>The most important thing to watch is that the disk does not fill up. A full disk does not corrupt data, but it can keep useful work from being done. If the disk
with the write-ahead log fills up, the server may stop.</p></body></html>`,
	"git/git-blame.txt": `GIT-BLAME(1)                      Git Manual                      GIT-BLAME(1)

NAME
       git-blame - Show what revision and author last modified each line of a file

OPTIONS
       -b
              Show blank object names for boundary commits.

       --root
              Do not treat root commits as boundaries.
`,
	"team/supervisor.md": `# Супервайзер

## Что он может

**Инструменты супервайзера:**

- read_plan читает план исследования
- assign_task даёт задачу исследователю
- finish завершает работу

Остальные инструменты есть только у исследователей.
`,
	"team/install.zh.md": `# 安装

## 在 Debian 上安装

要安装软件包，请运行以下命令：

` + "```" + `
sudo apt install dossier
` + "```" + `

安装完成后重新登录。
`,
	"legal/terms.txt": `TERMS OF DELIVERY

3. WARRANTY

The seller warrants the goods for a period of twenty-four months from the day
of delivery. Damage by misuse, by water or by changes that the buyer made is
not covered by the warranty.

4. DISCUSSION PERIOD

Before a vote there is a discussion period of two weeks, in which any member
may propose changes.
`,
}

// What people ask of manuals, and what has to stand in what is delivered first.
func TestPassagesAnswer(t *testing.T) {
	dir := t.TempDir()
	for name, text := range manuals {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), text)
	}
	e := engine(t, memory.New(memory.Options{}), nil)
	for _, c := range []struct{ question, source, want, not string }{
		{"What is the default value of shared_buffers?", "runtime-memory.html", "128 megabytes", ""},
		{"shared_buffers", "runtime-memory.html", "Sets how much memory", ""},
		{"What is the defualt of temp_bufers?", "runtime-memory.html", "eight megabytes", ""}, //nolint:misspell // as people write
		{"What does a transaction see at Read Committed?", "isolation.html", "committed before it began", ""},
		{"What happens when the disk is full?", "disk-full.html", "keep useful work from being done", ""},
		{"Which command shows who last modified each line?", "git-blame.txt", "git-blame", ""},
		{"Какие инструменты есть у супервайзера?", "supervisor.md", "assign_task", ""},
		{"如何在 Debian 上安装软件包？", "install.zh.md", "sudo apt install dossier", ""},
		{"What is the warranty period?", "terms.txt", "twenty-four months", "two weeks"},
		{"Какое значение shared_buffers по умолчанию?", "runtime-memory.html", "128 megabytes", ""},
	} {
		follow(t, e, research(c.question, dir))
		r := reportOf(t, e)
		if r.Outcome != report.Answered || len(r.Sections) == 0 || len(r.Sections[0].Quotes) == 0 {
			t.Errorf("%s: %s\n%s", c.question, r.Outcome, report.Markdown(r))
			continue
		}
		q := r.Sections[0].Quotes[0]
		if !strings.HasSuffix(r.Source(q.Passage.Source).URI, c.source) || !strings.Contains(strings.Join(strings.Fields(q.Text), " "), c.want) || c.not != "" && strings.Contains(q.Text, c.not) {
			t.Errorf("%s: %s: %q lacks %q", c.question, r.Source(q.Passage.Source).URI, q.Text, c.want)
		}
	}
}
