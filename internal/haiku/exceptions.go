package haiku

import (
	"strconv"
	"strings"
	"sync"
)

// exceptions are common words that the rules count wrong, by their syllables. A
// plural is as its word.
var exceptions = sync.OnceValue(func() map[string]int {
	out := make(map[string]int)
	for line := range strings.Lines(`
1 queue fruit sea tea pea plea flea real isle aisle prayer drawer shoe toe doe foe aye
2 wednesday colonel people business being evening different several poem poet quiet giant client create cruel duel acne naked wicked blessed rugged
2 crooked wretched jagged rhythm naive doesn't couldn't wouldn't shouldn't isn't wasn't didn't hadn't hasn't haven't mustn't needn't skiing lion riot
2 chaos neon peon fluid ruin druid genius poems truer bluer sundae theist deism alfred drying trying flying crying shyer via trio duo
3 chocolate vegetable poetry creation creative creator theatre theater everyone anyone forever usual casual visual element simile recipe karate sesame
3 finale beloved area idea preamble oasis heroic audience gradient nutrient usa samurai quietly quieter quietest quietness poetic museum coyote
3 piano video violet violin diary diamond meander overact alien nucleus stadium radius studio orient variant
4 usually apostrophe catastrophe epitome hyperbole algorithm entirely zoology ingredient obedient karaoke society variety anxiety propriety
`) {
		n, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		count, _ := strconv.Atoi(n) // the first line is empty
		for w := range strings.FieldsSeq(words) {
			out[w] = count
		}
	}
	return out
})

// exception looks a word, or that of which it is the plural, up.
func exception(word string) (syllables int, ok bool) {
	if n, ok := exceptions()[word]; ok {
		return n, true
	}
	n, ok := exceptions()[strings.TrimSuffix(strings.TrimSuffix(word, "s"), "'")]
	return n, ok && !hisses(strings.TrimSuffix(word, "s"))
}
