// Package lang knows the languages of its readers: which language a text is
// written in ([Detect]), where its words and sentences are ([Words],
// [Sentences]), whether it is a copy of another text ([SketchOf]), and the
// messages of the interface in English, Russian and Chinese ([Text]).
//
// Detection looks at the script first. Languages that share a script (Latin,
// Cyrillic, Arabic) are told apart by a linear model over the n-grams of
// words; its table is embedded and read in place, so that it costs nothing
// before the first call and almost no heap after it. lang/internal/gen trains
// the table; NOTICE names the data it was trained on.
package lang
