package jsonrepair

// Rule is a way in which the parser makes sense of what is no JSON, beyond a
// grammar in which quotes, commas and closing brackets may be missing. Each can
// be left out, so that what it is worth can be measured.
type Rule uint8

// The rules.
const (
	Fences Rule = iota
	Comments
	OtherQuotes
	OtherSigns
	Literals
	Numbers
	Tuples
	Calls
	Patterns
	Concatenation
	TripleQuotes
	Ellipses
	EscapedText
	Lines

	InnerQuotes
	LostQuotes
	MeantBackslashes
	SurplusBrackets
	WrongBrackets
	LostBrackets
	NewVersions
	StrayWords
	References
	Amounts
	ruleCount
)

// rules tells of each its name and, where what it reads is written down
// elsewhere, so that no example is needed to know of it, where that is.
var rules = [ruleCount]struct{ name, written string }{
	Fences:        {"fences", "Markdown"},
	Comments:      {"comments", "C, JavaScript, shells"},
	OtherQuotes:   {"other-quotes", "Python, typography"},
	OtherSigns:    {"other-signs", "full-width punctuation, Ruby, configuration files"},
	Literals:      {"literals", "Python, JavaScript"},
	Numbers:       {"numbers", "Python, JavaScript"},
	Tuples:        {"tuples", "Python"},
	Calls:         {"calls", "JSONP, MongoDB, Python"},
	Patterns:      {"patterns", "JavaScript"},
	Concatenation: {"concatenation", "JavaScript, Python"},
	TripleQuotes:  {"triple-quotes", "Python"},
	Ellipses:      {"ellipses", "prose"},
	EscapedText:   {"escaped-text", "JSON within JSON"},
	Lines:         {"lines", "JSON lines"},

	InnerQuotes:      {"inner-quotes", ""},
	LostQuotes:       {"lost-quotes", ""},
	MeantBackslashes: {"meant-backslashes", ""},
	SurplusBrackets:  {"surplus-brackets", ""},
	WrongBrackets:    {"wrong-brackets", ""},
	LostBrackets:     {"lost-brackets", ""},
	NewVersions:      {"new-versions", ""},
	StrayWords:       {"stray-words", ""},
	References:       {"references", ""},
	Amounts:          {"amounts", ""},
}

func (r Rule) String() string { return rules[r].name }

// Written says where the spelling that a rule reads is defined; it is empty for
// a guess at what a writer meant.
func (r Rule) Written() string { return rules[r].written }

// Rules returns all rules.
func Rules() []Rule {
	out := make([]Rule, ruleCount)
	for i := range out {
		out[i] = Rule(i)
	}
	return out
}

// Without is [Repair] with some rules left out, for measuring what they are
// worth.
func Without(text string, leftOut ...Rule) ([]byte, error) {
	p := newParser(answer(text), true)
	for _, r := range leftOut {
		p.off |= 1 << r
	}
	return p.repair(text)
}

// on says whether a rule is in use.
func (p *parser) on(r Rule) bool { return p.off&(1<<r) == 0 }
