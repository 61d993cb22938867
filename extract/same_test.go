package extract

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		same, alike bool
	}{
		{"When was the Morrow line opened?", "When did they open the Morrow line?", true, true},
		{"When was the Morrow line opened?", "In what year was the Morrow line opened?", true, true},
		{"When was the Morrow line opened?", "Who opened the Morrow line?", false, false},
		{"When was the Morrow line opened?", "When was the Morrow line closed?", false, true},
		{"When was the Morrow line opened?", "When was the Aune line opened?", false, false},
		{"How many inhabitants does Oststrand have?", "What is the population of Oststrand?", false, true},
		{"How many inhabitants did Oststrand have in 2011?", "How many inhabitants did Oststrand have in 2023?", false, false},
		{"Когда открыли Заречный виадук?", "В каком году был открыт Заречный виадук?", true, true},
		{"Кто построил Заречный виадук?", "Кем построен Заречный виадук?", true, true},
		{"银尾雀鹛现在有多少只？", "银尾雀鹛的数量是多少？", false, true},
		{"What is it?", "What is it?", false, false},
	} {
		if same, alike := Same(c.a, c.b), Alike(c.a, c.b); same != c.same || alike != c.alike {
			t.Errorf("%s / %s: same %t, alike %t", c.a, c.b, same, alike)
		}
	}
}
