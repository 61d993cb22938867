package webtest

import (
	"bytes"
	"fmt"
	"strings"
)

// pdf makes a PDF of one page with lines of text, which have to be ASCII.
func pdf(title, author string, lines []string) []byte {
	quote := strings.NewReplacer("(", `\(`, ")", `\)`, `\`, `\\`).Replace
	var text strings.Builder
	text.WriteString("BT /F1 11 Tf 50 780 Td 16 TL")
	for _, l := range lines {
		fmt.Fprintf(&text, " (%s) Tj T*", quote(l))
	}
	text.WriteString(" ET")
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 830]/Contents 5 0 R/Resources<</Font<</F1 4 0 R>>>>>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", text.Len(), text.String()),
		fmt.Sprintf("<</Title(%s)/Author(%s)>>", quote(title), quote(author)),
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R/Info 6 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}
