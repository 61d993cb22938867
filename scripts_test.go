package dossier

import "dossier/internal/studytest"

// The scripted models of these tests.
type (
	scribe       = studytest.Scribe
	facet        = studytest.Facet
	passage      = studytest.Passage
	scholar      = studytest.Scholar
	scriptedTeam = studytest.Team
	inTurn       = studytest.InTurn
)

var (
	theTeam     = studytest.TheTeam
	townScholar = studytest.TownScholar

	act            = studytest.Act
	viewOf         = studytest.View
	ranked         = studytest.Ranked
	shownIn        = studytest.Shown
	copied         = studytest.Copied
	cited          = studytest.Cited
	plainSentences = studytest.Sentences
	between        = studytest.Between
	number         = studytest.Number
)

const (
	teamQuestion      = studytest.TeamQuestion
	oststrandQuestion = studytest.TownQuestion
)
