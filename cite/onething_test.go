package cite_test

import (
	"fmt"
	"testing"

	"dossier/cite"
)

// doc is a source: its title and its text.
type doc struct{ title, text string }

// TestConflictsOfOneThing holds that two values disagree only when they are of
// the same thing, which a sentence often says only by the document it is in.
func TestConflictsOfOneThing(t *testing.T) {
	const (
		mysql    = "MySQL is a database server. The server listens on TCP port 3306 by default for connections. MySQL keeps tables in files."
		postgres = "PostgreSQL is a database server. The server listens on TCP port 5432 by default for connections. PostgreSQL keeps tables in files."
		gpl      = "This General Public License applies to a program. A copyright license is granted. The offer under this License must be valid for at least three years after the program is distributed. The General Public License is free."
		mozilla  = "The Mozilla terms cover each file. A patent license is granted. The offer under this License must be valid for at least two years after the program is distributed. Mozilla may publish others."
	)
	for _, c := range []struct {
		name     string
		question string
		a, b     doc
		want     string
	}{
		{"ports of different services", "What port does the server listen on by default?", doc{"MySQL manual", mysql}, doc{"PostgreSQL manual", postgres}, ""},
		{"services that begin the sentence", "Which port is used by default?", doc{"", "Redis listens on port 6379 by default. Clients of Redis know that."}, doc{"", "Memcached listens on port 11211 by default. Clients of Memcached know that."}, ""},
		{"services in lower case", "Which port is used by default?", doc{"", "sshd listens on port 22 by default for clients."}, doc{"", "rsyncd listens on port 873 by default for clients."}, ""},
		{"settings", "What is the default value?", doc{"", "The default value of max_connections is 100 in this release."}, doc{"", "The default value of max_senders is 10 in this release."}, ""},
		{"ports of one service", "What port does the PostgreSQL server listen on by default?", doc{"PostgreSQL manual", postgres}, doc{"Notes about PostgreSQL", "Some remarks of an administrator follow here. The server of PostgreSQL listens on TCP port 6543 by default for connections."}, "5432 <> 6543"},
		{"numbers of sections", "Where are the limits of memory described?", doc{"Guide", "The limits of memory are described in section 4 of the guide."}, doc{"Guide", "The limits of memory are described in section 7 of the guide."}, ""},
		{"numbers of headings", "What is the effect of new versions?", doc{"", "6.2. Effect of New Versions of the terms"}, doc{"", "10.2. Effect of New Versions of the terms"}, ""},
		{"numbers of sections in Russian", "Где описаны ограничения памяти?", doc{"", "Ограничения памяти сервера описаны в разделе 4 руководства."}, doc{"", "Ограничения памяти сервера описаны в разделе 7 руководства."}, ""},
		{"numbers of chapters in Chinese", "内存限制在哪里说明？", doc{"", "服务器的内存限制在第4章中有详细说明。"}, doc{"", "服务器的内存限制在第7章中有详细说明。"}, ""},
		{"versions", "Under which terms is it published?", doc{"", "The program is published under version 2 of the terms."}, doc{"", "The program is published under version 3 of the terms."}, ""},
		{"things with a number", "What does the archive hold about the line?", doc{"", "Box 101 of the archive holds what was printed about the line."}, doc{"", "Box 103 of the archive holds what was printed about the line."}, ""},
		{"how many there are", "How many people live on the island?", doc{"", "Today 300 people live on the island all year."}, doc{"", "Today 450 people live on the island all year."}, "300 <> 450"},
		{"terms of different licences", "How long must the offer be valid?", doc{"General Public License", gpl}, doc{"Mozilla terms", mozilla}, ""},
		{"documents that are called otherwise", "When is the licence reinstated?", doc{"GFDL-1.3", "The license is reinstated if you cure the violation prior to 30 days after receipt of the notice."}, doc{"GPL-3", "The license is reinstated if you cure the violation prior to 60 days after receipt of the notice."}, ""},
		{"licences that know each other's words", "When is the licence reinstated?",
			doc{"GNU Free Documentation License Version 1.3", "This is a license for free documentation of the GNU project, and free documentation needs it. The license is reinstated if you cure the violation prior to 30 days after receipt of the notice. See the GNU General Public License, which is for the general public."},
			doc{"GNU GENERAL PUBLIC LICENSE Version 3", "The GNU General Public License is for the general public and a free license, also for documentation. The license is reinstated if you cure the violation prior to 60 days after receipt of the notice."}, ""},
		{"a page and another about one place", "How high is the tower?",
			doc{"The lighthouse of Cape Kestrel", "The lighthouse of Cape Kestrel is old. The tower of it is 41 metres high. The lighthouse can be seen from far."},
			doc{"Visiting Cape Kestrel", "Visiting takes a day. The tower of Cape Kestrel is 53 metres high. Visiting is free."}, "41 <> 53"},
		{"files by number", "When was the lighthouse built?", doc{"1", "The lighthouse of Kovda was built in 1911 on the cape."}, doc{"2", "The lighthouse of Kovda was built in 1931 on the cape."}, "1911 <> 1931"},
		{"documents by number", "When was the lighthouse built?", doc{"Document 1", "The lighthouse of Kovda was built in 1911 on the cape."}, doc{"Document 2", "The lighthouse of Kovda was built in 1931 on the cape."}, "1911 <> 1931"},
		{"editions", "When is the licence reinstated?", doc{"GPL-2", "The license is reinstated if you cure the violation prior to 30 days after receipt of the notice."}, doc{"GPL-3", "The license is reinstated if you cure the violation prior to 60 days after receipt of the notice."}, ""},
		{"a longer name", "How long is the offer of the licence valid?", doc{"", "The offer of the General Public License is valid for three years."}, doc{"", "The offer of the Lesser General Public License is valid for two years."}, ""},
		{"a named thing in other pages", "How many inhabitants does Oststrand have?", doc{"Harbour towns", "Harbour towns are small. Oststrand has 18,240 inhabitants today and a harbour."}, doc{"Census report", "The census report is short. The town of Oststrand has 16,905 inhabitants today."}, "18,240 <> 16,905"},
	} {
		l, snaps := cite.NewLedger(), cite.Snapshots{}
		var passages []cite.Passage
		for i, d := range []doc{c.a, c.b} {
			s := l.Add(cite.Source{URI: fmt.Sprint("file", i), Title: d.title})
			if _, err := l.Read(s.Number, snaps.Add(d.text)); err != nil {
				t.Fatal(err)
			}
			passages = append(passages, cite.Passage{Source: s.Number, Start: 0, End: len(d.text)})
		}
		found := append(cite.Conflicts(l, snaps, passages), cite.Disagreements(c.question, l, snaps, passages)...)
		got := map[string]bool{}
		for _, f := range cite.OfOneThing(found, l, snaps) {
			got[f.A.Value+" <> "+f.B.Value] = true
		}
		if len(found) == 0 {
			t.Errorf("%s: nothing is compared", c.name)
		}
		if len(got) > 1 || c.want != "" && !got[c.want] || c.want == "" && len(got) > 0 {
			t.Errorf("%s: %v, want %q", c.name, got, c.want)
		}
	}
}

// A disagreement that many sources take part in is told once.
func TestConflictsAreToldOnce(t *testing.T) {
	l, snaps := cite.NewLedger(), cite.Snapshots{}
	var passages []cite.Passage
	for i, year := range []string{"1874", "1875", "1874", "1875"} {
		text := "The Morrow line was opened in " + year + " by the " + []string{"mayor", "bishop", "queen", "county"}[i] + ", as its papers say."
		s := l.Add(cite.Source{URI: fmt.Sprint("file", i)})
		if _, err := l.Read(s.Number, snaps.Add(text)); err != nil {
			t.Fatal(err)
		}
		passages = append(passages, cite.Passage{Source: s.Number, Start: 0, End: len(text)})
	}
	all := cite.Conflicts(l, snaps, passages)
	if got := cite.OfOneThing(all, l, snaps); len(all) != 4 || len(got) != 1 {
		t.Errorf("%d of %d", len(got), len(all))
	}
}
