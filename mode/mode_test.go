package mode

import (
	"testing"

	"dossier/lang"
)

func TestLanguageOfTheAnswer(t *testing.T) {
	for _, c := range []struct {
		req  Request
		set  lang.Code
		want lang.Code
	}{
		{Request{Question: "what is it?"}, "", "en"},
		{Request{Question: "что это такое?"}, "", "ru"},
		{Request{Question: "这是什么？"}, "", "zh"},
		{Request{Question: "what is it?", Lang: "ru"}, "zh", "ru"},
		{Request{Question: "what is it?", Lang: "auto"}, "zh", "zh"},
	} {
		if got := c.req.Language(c.set); got != c.want {
			t.Errorf("%+v %+v: %s", c.req, c.set, got)
		}
	}
}
