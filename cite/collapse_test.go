package cite

import "testing"

// What dropping claims leaves is tidied: no head of a table without rows, no
// heading without text.
func TestCollapse(t *testing.T) {
	for _, tc := range [][2]string{
		{"Text.\n\n| a | b |\n| --- | --- |\n\nMore.", "Text.\n\n\nMore."},
		{"| a | b |\n| --- | --- |\n| c | d |", "| a | b |\n| --- | --- |\n| c | d |"},
		{"Text.\n\n## One\n\n### Two\n\n## Three\n\nText.", "Text.\n\n\n\n## Three\n\nText."},
		{"## One\n\n### Two\n\nText.", "## One\n\n### Two\n\nText."},
		{"Text.\n\n## End", "Text."},
		{"```\n# a comment\n| a | b |\n| --- | --- |\n```", "```\n# a comment\n| a | b |\n| --- | --- |\n```"},
	} {
		if got := collapse(tc[0]); got != tc[1] {
			t.Errorf("%q became %q, not %q", tc[0], got, tc[1])
		}
	}
}
