package index

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rankingDocs are passages that share their words on purpose.
var rankingDocs = []Doc{
	{ID: "en-neva", Title: "Neva", Text: "The Neva is a river in northwestern Russia. It flows from Lake Ladoga through Saint Petersburg to the Neva Bay of the Gulf of Finland. It is 74 kilometres long."},
	{ID: "en-volga", Title: "Volga", Text: "The Volga is the longest river in Europe. It flows through central Russia into the Caspian Sea, and its length is 3,530 kilometres."},
	{ID: "en-ladoga", Title: "Lake Ladoga", Text: "Lake Ladoga is a freshwater lake in Karelia near Saint Petersburg. It is the largest lake located entirely in Europe; the Neva flows out of it."},
	{ID: "en-caspian", Title: "Caspian Sea", Text: "The Caspian Sea is the largest inland body of water in the world. The Volga enters it from the north and brings most of its water."},
	{ID: "en-bridge", Title: "Palace Bridge", Text: "The Palace Bridge spans the Neva between Palace Square and Vasilievsky Island. Its drawn spans at night became a symbol of the city. It was built between 1912 and 1916."},
	{ID: "en-winter", Title: "Winter Palace", Text: "The Winter Palace was the official residence of the emperors. Bartolomeo Rastrelli designed it in the baroque style. Today it houses the Hermitage Museum."},
	{ID: "en-vaccine", Title: "Vaccination and fever", Text: "Children who were vaccinated developed fever less often than those in the control group. Vaccines reduced hospital admissions by forty percent."},
	{ID: "en-fever", Title: "Fever in children", Text: "Fever in children is usually caused by viral infections. Paracetamol lowers the temperature; hospital admission is rarely needed."},
	{ID: "en-index", Title: "Inverted index", Text: "An inverted index maps words to the documents that contain them. Search engines store postings in compressed blocks and skip those that cannot matter."},
	{ID: "en-btree", Title: "B-tree", Text: "A B-tree keeps keys in sorted blocks, so that databases can search, insert and delete in logarithmic time. SQLite stores tables in B-trees."},
	{ID: "ru-neva", Title: "Нева", Text: "Нева́ — река в России, протекающая по территории Ленинградской области и Санкт-Петербурга, соединяющая Ладожское озеро с Невской губой. Длина 74 км."},
	{ID: "ru-volga", Title: "Волга", Text: "Волга — самая длинная река Европы. Впадает в Каспийское море. Длина реки 3530 км, на ней построены водохранилища."},
	{ID: "ru-ladoga", Title: "Ладожское озеро", Text: "Ладожское озеро — пресноводное озеро в Карелии. Из него вытекает единственная река. Крупнейшее озеро Европы по площади."},
	{ID: "ru-winter", Title: "Зимний дворец", Text: "Зимний дворец построил архитектор Растрелли. Был резиденцией императоров; сейчас в нём размещается Эрмитаж."},
	{ID: "ru-rastrelli", Title: "Растрелли", Text: "Бартоломео Растрелли — русский архитектор итальянского происхождения, создатель дворцов в стиле барокко. Родился в Париже в 1700 году."},
	{ID: "ru-gagarin", Title: "Гагарин", Text: "Юрий Гагарин — лётчик-космонавт, первым в мире совершивший полёт в космос 12 апреля 1961 года на корабле «Восток»."},
	{ID: "ru-tereshkova", Title: "Терешкова", Text: "Валентина Терешкова — первая женщина-космонавт. Её полёт на корабле «Восток-6» продолжался почти трое суток в июне 1963 года."},
	{ID: "ru-index", Title: "Инвертированный индекс", Text: "Инвертированный индекс сопоставляет словам списки документов. Поисковые системы хранят его в сжатых блоках."},
	{ID: "zh-panthers", Title: "黑豹队", Text: "黑豹队的防守只丢了308分，在联赛中排名第六，同时以24次拦截领先联盟。"},
	{ID: "zh-warsaw", Title: "华沙", Text: "华沙是波兰的首都。萨克森花园位于市中心，旧城在战争后重建，被列为世界遗产。"},
	{ID: "zh-beijing", Title: "北京", Text: "北京是中国的首都，故宫位于市中心，是明清两代的皇宫。人口超过两千万。"},
	{ID: "zh-shanghai", Title: "上海", Text: "上海是中国人口最多的城市，位于长江入海口，是经济和金融中心。"},
	{ID: "zh-yangtze", Title: "长江", Text: "长江是亚洲最长的河流，全长6300公里，在上海注入东海。三峡水电站建在长江上。"},
	{ID: "zh-palace", Title: "故宫", Text: "故宫又称紫禁城，建成于1420年，现为故宫博物院，收藏文物一百八十余万件。"},
}

// rankingQueries name the passage that answers each.
var rankingQueries = []struct{ lang, text, want string }{
	{"en", "How long is the Neva?", "en-neva"},
	{"en", "Which river is the longest in Europe?", "en-volga"},
	{"en", "largest lake of Europe", "en-ladoga"},
	{"en", "what does the Volga flow into", "en-volga"},
	{"en", "largest inland water body", "en-caspian"},
	{"en", "when was the bridge at Palace Square built", "en-bridge"},
	{"en", "who designed the Winter Palace", "en-winter"},
	{"en", "where is the Hermitage", "en-winter"},
	{"en", "vaccinating children reduces hospital admission", "en-vaccine"},
	{"en", "cause of children's fever", "en-fever"},
	{"en", "how do search engines compress postings", "en-index"},
	{"en", "how does SQLite store a table", "en-btree"},
	{"en", "symbol of the city at night", "en-bridge"},
	{"en", "what river leaves lake Ladoga", "en-ladoga"},
	{"en", "museum in the emperors' home", "en-winter"},
	{"en", "water that comes from the north", "en-caspian"},
	{"en", "medicine against high temperature", "en-fever"},
	{"en", "where does the longest European river end", "en-volga"},
	{"en", "deleting keys from a sorted structure", "en-btree"},
	{"ru", "Какова длина Невы?", "ru-neva"},
	{"ru", "Куда впадает Волга", "ru-volga"},
	{"ru", "самая длинная река в Европе", "ru-volga"},
	{"ru", "Крупнейшее озеро", "ru-ladoga"},
	{"ru", "Кто построил Зимний дворец?", "ru-winter"},
	{"ru", "где родился архитектор Растрелли", "ru-rastrelli"},
	{"ru", "первый человек в космосе", "ru-gagarin"},
	{"ru", "Как звали первую женщину-космонавта?", "ru-tereshkova"},
	{"ru", "когда полетел Гагарин", "ru-gagarin"},
	{"ru", "что хранят поисковые системы", "ru-index"},
	{"ru", "в каком музее резиденция императоров", "ru-winter"},
	{"ru", "сколько длился полет Востока-6", "ru-tereshkova"},
	{"ru", "какая река вытекает из озера в Карелии", "ru-ladoga"},
	{"ru", "архитектор Эрмитажа", "ru-winter"},
	{"ru", "женщина в космосе", "ru-tereshkova"},
	{"zh", "皇宫在哪个城市", "zh-beijing"},
	{"zh", "经济中心在哪条河边", "zh-shanghai"},
	{"zh", "哪支球队拦截最多", "zh-panthers"},
	{"zh", "黑豹队在联赛中排名第几？", "zh-panthers"},
	{"zh", "萨克森花园在哪里", "zh-warsaw"},
	{"zh", "波兰的首都是哪里？", "zh-warsaw"},
	{"zh", "中国的首都是什么城市", "zh-beijing"},
	{"zh", "中国人口最多的城市", "zh-shanghai"},
	{"zh", "长江有多长", "zh-yangtze"},
	{"zh", "紫禁城是哪一年建成的", "zh-palace"},
	{"zh", "长江在哪里入海", "zh-yangtze"},
	{"zh", "故宫收藏了多少文物", "zh-palace"},
}

// The quality of the ranking is text under testdata, so that a change of it
// is seen in review: recall at 1 and 5, mean reciprocal rank, and every query
// whose passage is not first.
func TestRankingStats(t *testing.T) {
	x := New(open(t, rankingDocs...))
	var out, misses strings.Builder
	for _, language := range []string{"en", "ru", "zh"} {
		n, at1, at5, mrr := 0, 0, 0, 0.0
		for _, q := range rankingQueries {
			if q.lang != language {
				continue
			}
			n++
			hits := search(t, x, Query{Text: q.text, Limit: 20})
			place := 0
			for i, h := range hits {
				if h.ID == q.want {
					place = i + 1
				}
			}
			if place == 1 {
				at1++
			} else {
				fmt.Fprintf(&misses, "%s: %s is at place %d for %q\n", q.lang, q.want, place, q.text)
			}
			if place > 0 && place <= 5 {
				at5++
			}
			if place > 0 {
				mrr += 1 / float64(place)
			}
		}
		fmt.Fprintf(&out, "%s: recall@1 %.3f  recall@5 %.3f  MRR %.3f  n=%d\n",
			language, float64(at1)/float64(n), float64(at5)/float64(n), mrr/float64(n), n)
	}
	got := out.String() + misses.String()
	golden := filepath.Join("testdata", "ranking.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the ranking changed: look at it and run with -update\n%s\nwas\n%s", got, want)
	}
}
