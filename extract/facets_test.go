package extract

import (
	"strings"
	"testing"
)

func TestFacets(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"Who founded Tesla?", ""},
		{"How do I start it and what does it cost?", ""},
		{"Who wrote War and Peace?", ""},
		{"What is the capital of Bosnia and Herzegovina?", ""},
		{"Кто написал «Войну и мир»?", ""},
		{"战争与和平的作者是谁？", ""},
		{"《罗密欧与朱丽叶》的作者是谁？", ""},
		{"I have two cats. What do they eat?", ""},
		{"What is it and why does it work?", ""},
		{"What is the difference between $@ and $* in bash?", ""},
		{"脚注和尾注有什么不同？", ""},
		{"Сколько дисков нужно для RAID-5, и сколько из них могут отказать?", ""},
		{"When and where was Ada Lovelace born?", "When was Ada Lovelace born?|Where was Ada Lovelace born?"},
		{"Когда и где родился Пушкин?", "Когда родился Пушкин?|Где родился Пушкин?"},
		{"Who founded Tesla Motors? When did it go public?", "Who founded Tesla Motors?|Tesla Motors: When did it go public?"},
		{"Who directed Alien and who composed its music?", "Who directed Alien?|Alien: Who composed its music?"},
		{"Кто построил Зимний дворец и когда построили Исаакиевский собор?", "Кто построил Зимний дворец?|Когда построили Исаакиевский собор?"},
		{"What are the causes, symptoms and treatment of malaria?", "What are the causes of malaria?|What are the symptoms of malaria?|What are the treatment of malaria?"},
		{"Compare Go and Rust on memory safety", "Go: memory safety|Rust: memory safety"},
		{"Сравните Москву и Париж по населению", "Москву: населению|Париж: населению"},
		{"比较上海和北京的人口", "上海的人口|北京的人口"},
		{"2022年澳网男单和女单冠军分别是谁？", "2022年澳网男单冠军是谁？|2022年澳网女单冠军是谁？"},
		{"北京冬奥会美国和中国分别获得多少金牌？", "北京冬奥会美国获得多少金牌？|北京冬奥会中国获得多少金牌？"},
		{"2022和2023年春节档票房冠军分别哪部电影", "2022年春节档票房冠军哪部电影|2023年春节档票房冠军哪部电影"},
		{"《踏冰逐梦》的主演和导演是谁？", "《踏冰逐梦》的主演是谁？|《踏冰逐梦》的导演是谁？"},
		{"《李茂扮太子》是什么类型的电影？它的导演是谁？", "《李茂扮太子》是什么类型的电影？|《李茂扮太子》: 它的导演是谁？"},
		{"Who built the lighthouse of Cape Kestrel and in what year was the inn of Aldworth opened?", "Who built the lighthouse of Cape Kestrel?|In what year was the inn of Aldworth opened?"},
		{"Кто построил маяк Кестрел и в каком году он был открыт?", "Кто построил маяк Кестрел?|Кестрел: В каком году он был открыт?"},
		{"Как aptitude разрешает конфликты зависимостей и как пользователь может влиять на решение?", "Как aptitude разрешает конфликты зависимостей?|Как пользователь может влиять на решение?"},
	} {
		want := c.want
		if want == "" {
			want = c.question
		}
		if got := strings.Join(Facets(c.question), "|"); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.question, got, want)
		}
	}
	if got := Facets(" \n"); got != nil {
		t.Errorf("no question has facets %q", got)
	}
}

func TestQueries(t *testing.T) {
	for _, c := range []struct{ facet, want string }{
		{"Who founded Tesla Motors in 2003?", "Who founded Tesla Motors in 2003?|founded Tesla Motors 2003|Tesla Motors 2003"},
		{"Когда основан город Ижевск?", "Когда основан город Ижевск?|основан город Ижевск"},
		{"北京大兴机场在哪里？", "北京大兴机场在哪里？|北京大兴机场"},
		{"bm25", "bm25"},
		{"", ""},
	} {
		if got := strings.Join(Queries(c.facet), "|"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.facet, got, c.want)
		}
	}
}

func TestFollowUps(t *testing.T) {
	passages := []Passage{{Text: "The film Alien was shot in 1978. The film Alien was directed by Ridley Scott, who lives in London."}}
	for _, c := range []struct{ facet, want string }{
		{"Where was the director of the film Alien born?", "director film Alien|Ridley Scott born|Alien"},
		{"When was the film Alien shot?", "Alien"},
	} {
		if got := strings.Join(FollowUps(c.facet, passages), "|"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.facet, got, c.want)
		}
	}
	if got := FollowUps("Who?", passages); len(got) > 0 {
		t.Errorf("a question without content gave %q", got)
	}
}

func TestFollowOn(t *testing.T) {
	for _, c := range []struct{ question, earlier, want string }{
		{"Who built it?", "How high is the lighthouse of Cape Kestrel?", "Cape Kestrel: Who built it?"},
		{"Кто его построил?", "Какой высоты маяк на мысе Кестрел?", "Кестрел: Кто его построил?"},
		{"它是谁设计的？", "《故宫》建于哪一年？", "《故宫》: 它是谁设计的？"},
		{"What does a ticket to the museum cost?", "How high is the lighthouse of Cape Kestrel?", "What does a ticket to the museum cost?"},
		{"Who built it?", "how high is the tower?", "high tower: Who built it?"},
		{"what is the default of that?", "What does autovacuum_threshold control?", "autovacuum_threshold: what is the default of that?"},
		{"and how exact is the timer?", "How do I run a unit on a schedule?", "run unit schedule: and how exact is the timer?"},
		{"缺点呢?", "虚拟化方案怎样?", "虚拟化方案: 缺点呢?"},
		{"Who built Cape Kestrel then?", "Where is Cape Kestrel?", "Who built Cape Kestrel then?"},
	} {
		if got := FollowOn(c.question, c.earlier); got != c.want {
			t.Errorf("%s after %s: %q", c.question, c.earlier, got)
		}
	}
}
