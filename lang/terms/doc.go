// Package terms says what the words of a question are in another language:
// between English and Russian or Chinese, and between those two by way of
// English. It translates no sentences. For each word or phrase it gives the
// translations that a dictionary has, weighted, so that a search can look for
// all of them and let the best one count.
//
//	for _, g := range terms.Default().Translate("Где находится железная дорога?", lang.Russian, lang.English) {
//		fmt.Println(g.Term, g.Translations) // железная дорога [{railway 1} {railroad 0.75} …]
//	}
//
// Russian words are found in any form, by their stems. Chinese text is cut
// into the words of the table, traditional characters are read as simplified
// ones. Names that no table has are written in the other script in the ways
// that are usual, with low weights.
//
// The tables are embedded and packed; the first use of a language unpacks its
// own. lang/terms/internal/gen makes them, and NOTICE names the dictionaries
// that they were made from. [Shelf] keeps dictionaries that a user adds.
package terms
