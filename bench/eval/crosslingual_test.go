package main

import "testing"

func TestNTREXFigures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "xling_ntrex_news/sentences.jsonl.gz", `{"_id":"a#0","doc":"a","en":"Ferry to the island delayed","ru":"Паром на остров задержан","zh":"开往岛上的渡轮延误"}
{"_id":"a#1","doc":"a","en":"The ferry left the island three hours late.","ru":"Паром ушёл с опозданием.","zh":"渡轮晚了三个小时离开。"}
{"_id":"b#0","doc":"b","en":"Bees on the roof","ru":"Пчёлы на крыше","zh":"屋顶上的蜜蜂"}
{"_id":"b#1","doc":"b","en":"The bees make honey on the roof of the school.","ru":"Пчёлы делают мёд.","zh":"蜜蜂酿蜜。"}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	const want = `xling_ntrex_news ndcg@10.en 1.0000 n=2
xling_ntrex_news recall@10.en 1.0000 n=2
xling_ntrex_news mrr@10.en 1.0000 n=2
xling_ntrex_news ndcg@10.ru-en 1.0000 n=2
xling_ntrex_news recall@10.ru-en 1.0000 n=2
xling_ntrex_news mrr@10.ru-en 1.0000 n=2
xling_ntrex_news ndcg@10.zh-en 1.0000 n=2
xling_ntrex_news recall@10.zh-en 1.0000 n=2
xling_ntrex_news mrr@10.zh-en 1.0000 n=2
`
	if code != 0 || stdout != want {
		t.Fatalf("exit code %d, stderr %q, output\n%swant\n%s", code, stderr, stdout, want)
	}
}
