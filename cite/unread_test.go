package cite_test

import (
	"testing"

	"dossier/cite"
	"dossier/lang"
)

func TestUnread(t *testing.T) {
	passages := []string{"The sand of Quillmark was dug at the Keldra. The Keldra Bridge was opened to traffic on 14 June 1931 after four years of building by Germany.", "Мост открыла мэр Анна Петрова в 1931 году."}
	v := cite.NewVocabulary(append([]string{"Questions about Oststrand, answered"}, passages...), []lang.Code{lang.English, lang.Russian})
	for claim, want := range map[string]bool{
		"The Keldra Bridge was opened in June 1931.":                                                                   false,
		"In 1931 the German engineers opened the Keldra Bridge.":                                                       false,
		"The bridge in Oststrand was opened in 1931.":                                                                  false, // the title has it
		"The Keldra Bridge was opened on 17 June 1931.":                                                                true,
		"The Keldra Bridge was opened at the sand of Quillmarks.":                                                      false,
		"The Keldra Bridge was opened by the government of Quillon.":                                                   true,
		"It was opened by the WHO.":                                                                                    false, // it may stand for several words
		"The Keldra Bridge was not opened to traffic on 14 June 1931 after four years of building by Germany.":         true,  // it is denied
		"银尾雀鹛现在有多少只，由 Keldra 的人计算。":                                                                                    false,
		"Quillon is a bridge.":                                                                                         false, // words that open a sentence are no names
		"Мост открыла Анна Петрова.":                                                                                   false,
		"Мост открыл в тот день инженер Квиллонов.":                                                                    true,
		"Die Brücke wurde von der Stadt Quillon am Fluss Aune eröffnet und von vielen Menschen der Umgebung gefeiert.": false, // in a language of which nothing was read
	} {
		if got := v.Unread(claim, passages); got != want {
			t.Errorf("%q: %v", claim, got)
		}
	}
}
