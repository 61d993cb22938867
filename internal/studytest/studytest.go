// Package studytest has scripted models of the modes that search and of both
// engines of deep research, for tests. They work on what their prompts show them
// and on nothing else: the same prompt gets the same reply, whoever asks and
// however often, so that a run that is taken up again gets the same replies.
package studytest

// TeamQuestion is a research by a team over the web of webtest: five things to find out, of which
// nobody has a task for the last.
const TeamQuestion = "What is known about Oststrand, its mayor, the Keldra Bridge and the Aune spotted newt?"

// TheTeam has a plan for TeamQuestion.
var TheTeam = Team{
	Scribe: Scribe{
		Facets: []Facet{{"How many inhabitants does Oststrand have?", []string{"Oststrand inhabitants"}}},
		Enough: "it will do", After: 1,
	},
	Rubric: []string{
		"How many inhabitants does Oststrand have?", "How many years does an Aune spotted newt live?", "When was the Keldra Bridge opened to traffic?", "Who is the mayor of Oststrand?",
		"How high is the tower of the Pellin Point Lighthouse?",
	},
	Tasks: []string{
		"How many inhabitants does Oststrand have?", "How many years does an Aune spotted newt live?", "When was the Keldra Bridge opened to traffic?", "Who is the mayor of Oststrand?",
	},
}

// TownQuestion is a research by the evidence loop over the same web.
const TownQuestion = "What kind of town is Oststrand, and how is it governed?"

// TownScholar has a plan for TownQuestion, goes round twice, and lies once.
var TownScholar = Scholar{
	Title: "Oststrand and its people",
	Sections: []Section{
		{"Population", "How many inhabitants does Oststrand have?", []string{"Oststrand inhabitants census"}},
		{"Government", "Who is the mayor of Oststrand?", []string{"mayor of Oststrand"}},
		{"Bridge", "When was the Keldra Bridge opened?", []string{"Keldra Bridge opened"}},
	},
	Enough: 2, Next: []string{"Oststrand fish market", "Keldra Bridge length", "Oststrand harbour", "Oststrand pilots", "river Aune", "Oststrand history", "Grenmoor", "Oststrand museum", "Veyholm", "Skarrow windmill", "Aune newts", "Oststrand ferry"},
	Scribe: Scribe{Lie: "The town hall of Oststrand is built of chocolate [1]."},
}
