package lang_test

import (
	"fmt"

	"dossier/lang"
)

func ExampleDetect() {
	fmt.Println(lang.Detect("как настроить nginx reverse proxy"))
	fmt.Println(lang.Detect("what does «привет» mean?"))
	fmt.Println(lang.Detect("Kubernetes 是什么？"))
	fmt.Println(lang.Detect("42"))
	// Output:
	// ru
	// en
	// zh
	// und
}

func ExampleForAnswer() {
	// Words that Russian and Bulgarian share, asked by a reader in Russian.
	fmt.Println(lang.ForAnswer("сравни React и Vue", lang.Russian))
	fmt.Println(lang.ForAnswer("", lang.Chinese))
	// Output:
	// ru
	// zh
}

func ExampleWords() {
	fmt.Println(lang.Words("The state-of-the-art costs 3.14 €."))
	fmt.Println(lang.Words("我有2只猫。"))
	// Output:
	// 4
	// 5
}

func ExampleSentences() {
	text := "Он родился в 1799 г. в Москве, т. е. в столице. Потом уехал!"
	for _, s := range lang.Sentences(text) {
		fmt.Println(s.In(text))
	}
	// Output:
	// Он родился в 1799 г. в Москве, т. е. в столице.
	// Потом уехал!
}

func ExampleText() {
	fmt.Println(lang.Text(lang.Russian, "sources.count", "n", 22))
	fmt.Println(lang.Text("fr", "run.resume", "command", "dossier runs resume r1"))
	// Output:
	// 22 источника
	// To continue: dossier runs resume r1
}
