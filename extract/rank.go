package extract

import (
	"dossier/extract/internal/evidence"
	"dossier/index"
	"dossier/lang"
)

// Candidate is a passage that a search found, with its score there.
type Candidate = evidence.Candidate

// Judged is a candidate with what speaks for it.
type Judged = evidence.Ranked

// RankSize is the number of features of a candidate.
const RankSize = evidence.RankSize

// RankNames name the features.
var RankNames = evidence.RankNames

// Judge reads candidates for a question.
func Judge(question string, code lang.Code, w Weights, groups []index.Group, cs []Candidate) []Judged {
	return evidence.Read(question, code, w, groups...).Judge(cs)
}

// Unknown is the share of a question that no document has.
func Unknown(question string, code lang.Code, w Weights, groups []index.Group) float64 {
	return evidence.Read(question, code, w, groups...).Unknown()
}
