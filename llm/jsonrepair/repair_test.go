package jsonrepair

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRepair(t *testing.T) {
	groups := map[string][][2]string{
		"fences": {
			{"```json\n{\"city\": \"Rome\"}\n```", `{"city":"Rome"}`},
			{"Sure!\n```\n{'n': 1}\n```\nAnything else?", `{"n":1}`},
			{"```json\n\"n\": 1, \"m\": 2\n```", `{"n":1,"m":2}`},
			{"```json\n7\n```", `7`},
			{"{\"code\": \"```go\\nx := 1\\n```\", \"n\": 1,}", "{\"code\":\"```go\\nx := 1\\n```\",\"n\":1}"},
			{"{\"n\": [1, 2```", `{"n":[1,2]}`},
			{"a ```json {\"x\":1} ``` b ```json {\"x\":2} ```", `{"x":2}`},
			{"a ```json {\"x\":1} ``` b ```json [2] ```", `[{"x":1},[2]]`},
		},
		"prose": {
			{`The result is {"ok": true}. Enjoy!`, `{"ok":true}`},
			{`As [1] and [2, 3] say: {"n": 1}`, `{"n":1}`},
			{`See [the page](http://a.b): {n: 1}`, `{"n":1}`},
			{`{"n": "x"} is the "right" answer`, `{"n":"x"}`},
			{`Tags: [red, green]`, `["red","green"]`},
			{"<think>perhaps {\"n\": 1}</think>\n{\"n\": 2, }", `{"n":2}`},
			{"no JSON, sorry", `"no JSON, sorry"`},
		},
		"quotes": {
			{`{'it': 'isn't', "b": 'c'}`, `{"it":"isn't","b":"c"}`},
			{`{“a”: ‘b’}`, `{"a":"b"}`},
			{`{"a": "she said "yes", twice", "b": 1}`, `{"a":"she said \"yes\", twice","b":1}`},
			{`{"a": "she said "yes"", "b": 1}`, `{"a":"she said \"yes\"","b":1}`},
			{`{"a": ""Yes" she said", "b": 1}`, `{"a":"\"Yes\" she said","b":1}`},
			{`["a 5" nail", "b"]`, `["a 5\" nail","b"]`},
			{`{"a": "left open, "b": 2}`, `{"a":"left open","b":2}`},
			{"{\"a\": \"left open\n \"b\": 2}", `{"a":"left open","b":2}`},
			{`["left open, "b"]`, `["left open","b"]`},
			{`{"a": """one "two" three""", "b": 1}`, `{"a":"one \"two\" three","b":1}`},
			{`{"key: "v"}`, `{"key":"v"}`},
			{`{"code": "x = {"a": [1, 2], "b": 3};", "n": 1}`, `{"code":"x = {\"a\": [1, 2], \"b\": 3};","n":1}`},
			{`{key": "v"}`, `{"key":"v"}`},
		},
		"bare": {
			{`{name: Ada Lovelace, born: 1815, tags: [x y, z]}`, `{"name":"Ada Lovelace","born":1815,"tags":["x y","z"]}`},
			{`{when: 2024-05-06, at: 10:20:30, url: https://a.b/c?d=e}`, `{"when":"2024-05-06","at":"10:20:30","url":"https://a.b/c?d=e"}`},
			{`{age: 30 years, ok: true}`, `{"age":"30 years","ok":true}`},
			{"one\ntwo", `["one","two"]`},
			{`{a: the "big" one, b: u'x', "c":: r"y"}`, `{"a":"the \"big\" one","b":"x","c":"y"}`},
			{`{"名"："甲"，数：1，“表”：["乙"、"丙"]}`, `{"名":"甲","数":1,"表":["乙","丙"]}`},
			{`{"a": "他说："好"，走了", "b": 1}`, `{"a":"他说：\"好\"，走了","b":1}`},
			{`/ab+c/`, `"/ab+c/"`},
		},
		"commas": {
			{`[1 2 3]`, `[1,2,3]`}, {`[1,,2,]`, `[1,2]`}, {`{"a":1 "b":2}`, `{"a":1,"b":2}`},
			{`{"a" 1; "b" => 2}`, `{"a":1,"b":2}`},
		},
		"brackets": {
			{`{"a":[1,2}`, `{"a":[1,2]}`}, {`[{"a":1]`, `[{"a":1}]`}, {`{"a":1}]}`, `{"a":1}`},
			{`{{"a":1}}`, `{"a":1}`}, {`[{{"a":1}}]`, `[{"a":1}]`},
			{`{"a":[{"b":1}},{"b":2}]}`, `{"a":[{"b":1},{"b":2}]}`},
			{`{"a":1},"b":2}`, `{"a":1,"b":2}`}, {`{"a":1,{"b":2},"c":3}`, `{"a":1,"b":2,"c":3}`},
			{`{"t":[[1,2],3,4],[5,6]]}`, `{"t":[[1,2],3,4,5,6]}`},
			{`{"t":[1, 2 "u":3}`, `{"t":[1,2],"u":3}`},
			{`{"t":[1],[2,3]}`, `{"t":[1,2,3]}`},
			{`["a":1,"b":2,"a":3]`, `[{"a":1,"b":2},{"a":3}]`},
			{`{"r":[{"a":1,"b":2,"a":3,"b":4}],"x":1,}`, `{"r":[{"a":1,"b":2},{"a":3,"b":4}],"x":1}`},
			{`(1, 2)`, `[1,2]`}, {`{"p": (3)}`, `{"p":3}`}, {`{1, 2}`, `[1,2]`},
		},
		"cut": {
			{`{"a": "b`, `{"a":"b"}`}, {`{"a`, `{"a":null}`}, {`{"a":`, `{"a":null}`}, {`{"a": -`, `{"a":-0}`},
			{`{"a": 1.`, `{"a":1.0}`}, {`{"a": 1e+`, `{"a":1e+0}`}, {`{"a": tr`, `{"a":true}`}, {`[1, nul`, `[1,null]`},
			{`["a", "`, `["a"]`}, {`{"a": "x\`, `{"a":"x"}`}, {`{"a": "x\u00`, `{"a":"x"}`},
			{`{"a": "x\ud83d\ude`, `{"a":"x"}`}, {`{"a": [{"b": {"c": [1`, `{"a":[{"b":{"c":[1]}}]}`},
			{`{"a": "C:\\n`, `{"a":"C:\\n"}`}, {`{"a": "b\n`, `{"a":"b\n"}`}, {"{\"a\": \"b \n", `{"a":"b"}`}, {`{"a": "C++`, `{"a":"C++"}`},
			{`{"a": "b}`, `{"a":"b"}`}, {`{"a": {"b": "c}}`, `{"a":{"b":"c"}}`},
		},
		"comments": {
			{"{\"a\": 1, // one\n \"b\": 2 # two\n}", `{"a":1,"b":2}`},
			{`{"a": /* x */ 1 /* y`, `{"a":1}`},
			{`{"a": "no // comment # here", }`, `{"a":"no // comment # here"}`},
		},
		"literals": {
			{`{"a": True, "b": FALSE, "c": None, "d": undefined, "e": NaN, "f": -Infinity}`, `{"a":true,"b":false,"c":null,"d":null,"e":null,"f":null}`},
			{`[truth, nullable, "true"]`, `["truth","nullable","true"]`},
		},
		"numbers": {
			{`[.5, 5., +1, 1_000, 1e5]`, `[0.5,5.0,1,1000,1e5]`}, {`[007, 0x1F, 1.2.3]`, `["007","0x1F","1.2.3"]`},
			{`{"a": 1,234, "b": 1,234: 5}`, `{"a":"1,234","b":1,"234":5}`},
		},
		"ellipses":      {{`[1, 2, ..., 9, …]`, `[1,2,9]`}, {`[1, 2...]`, `[1,2]`}, {`{"a": 1, ...}`, `{"a":1}`}},
		"concatenation": {{`{"a": "b" + 'c', "d": "e" "f"}`, `{"a":"bc","d":"ef"}`}},
		"calls":         {{`cb({"a": 1});`, `{"a":1}`}, {`{"id": ObjectId("7"), "t": f(x, y)}`, `{"id":"7","t":"f(x, y)"}`}},
		"lines":         {{"{\"a\":1}\n{\"a\":2}\n", `[{"a":1},{"a":2}]`}, {`{"a":1}, {"b":2}`, `[{"a":1},{"b":2}]`}, {`1, "a", true`, `[1,"a",true]`}},
		"escaped": {
			{`{\"a\": \"b \\\"c\\\"\", \"d\": 1}`, `{"a":"b \"c\"","d":1}`},
			{`{\n  \"a\": \"x\\ny\"\n}`, `{"a":"x\ny"}`},
		},
		"escapes": {
			{`{"a": "C:\Users", "b": "\d+\.\(", "c": "\'\q", "d": "\x41",}`, `{"a":"C:\\Users","b":"\\d+\\.\\(","c":"'q","d":"A"}`},
			{"{\"a\": \"one\ntwo\tthree\", }", `{"a":"one\ntwo\tthree"}`},
			{`{"a": "{\"b\": \"\\\"c\\\"\"}", }`, `{"a":"{\"b\": \"\\\"c\\\"\"}"}`},
		},
	}
	for name, cases := range groups {
		for _, c := range cases {
			got, err := Repair(c[0])
			if err != nil {
				t.Errorf("%s: Repair(%q): %v", name, c[0], err)
			} else if !equal(t, got, []byte(c[1])) {
				t.Errorf("%s: Repair(%q) = %s, want %s", name, c[0], got, c[1])
			}
		}
	}
}

func TestRepairRefuses(t *testing.T) {
	for _, text := range []string{
		"", " \n", "]", "text [", `{"a":1}text`, `{"a":1}{}`, `{"a",`, `{"a" ]`, `{:1}`, `["\uQQQQ"]`, "[\"\x01\", ]",
		strings.Repeat("[", 1<<20),
	} {
		got, err := Repair(text)
		if err == nil {
			t.Errorf("Repair(%.20q) = %.40s, want an error", text, got)
		}
	}
	_, err := Repair(`[1, "\uQQQQ"]`)
	var at *Error
	if !errors.As(err, &at) || at.Offset != 5 {
		t.Errorf("error %v, want an *Error at byte 5", err)
	}
}

func TestObject(t *testing.T) {
	cases := [][2]string{
		{`{ "a": 1 }`, `{ "a": 1 }`},
		{`{"a":1}text`, `{"a":1}`},
		{"[{\"a\":\"\x01\"}]", `{"a":"\u0001"}`},
		{`"{\"a\": 1}"`, `{"a":1}`},
		{`For example {"a":0} or so. My answer: {"a":1,"b":2}. See [1].`, `{"a":1,"b":2}`},
		{`{"a":1} then {"a":2}`, `{"a":2}`},
		{`I thought {"a": "of much more"}</think> {"a":1}`, `{"a":1}`},
		{`{"a": "\uQQ", b: 1}`, `{"a":"\\uQQ","b":1}`},
	}
	for _, c := range cases {
		got, err := Object(c[0])
		if err != nil || !equal(t, got, []byte(c[1])) {
			t.Errorf("Object(%q) = %s, %v, want %s", c[0], got, err, c[1])
		}
	}
	for _, text := range []string{"", "nothing here", "[1, 2]", `"text"`, "17"} {
		if got, err := Object(text); !errors.Is(err, ErrNone) {
			t.Errorf("Object(%q) = %s, %v, want ErrNone", text, got, err)
		}
	}
}

func equal(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("bad test case %s: %v", b, err)
	}
	return json.Unmarshal(a, &x) == nil && reflect.DeepEqual(x, y)
}
