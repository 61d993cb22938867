package sources

import (
	"testing"

	"dossier/llm"
)

func TestFollowUpsLeanOnWhatWasSaid(t *testing.T) {
	const (
		raid   = "How many disks does RAID 5 need?"
		vacuum = "> [1] maintenance.html\n> **The autovacuum daemon runs VACUUM and ANALYZE by itself.** It looks for tables that have changed much."
	)
	said := func(turns ...string) []llm.Message {
		var out []llm.Message
		for i, text := range turns {
			out = append(out, llm.Message{Role: []llm.Role{llm.RoleUser, llm.RoleAssistant}[i%2], Content: text})
		}
		return out
	}
	for _, c := range []struct {
		history        []llm.Message
		question, want string
	}{
		{nil, "What about RAID 6?", "What about RAID 6?"},
		{said(raid), "What about RAID 6?", "How many disks does RAID 6 need?"},
		{said(raid, "three", "And RAID 6?", "four"), "And RAID 10?", "How many disks does RAID 10 need?"},
		{said("What is the default of shared_buffers?"), "How about temp_buffers?", "What is the default of temp_buffers?"},
		{said("What is the warranty of the kettle?"), "And what about the toaster?", "the toaster: What is the warranty of the kettle?"},
		{said("Сколько дисков нужно для RAID-5?"), "А для RAID-6?", "Сколько дисков нужно для RAID-6?"},
		{said("Сколько дней отпуска у инженеров?"), "А что насчёт стажёров?", "стажёров: Сколько дней отпуска у инженеров?"},
		{said("RAID-5 需要多少块磁盘？"), "那 RAID-6 呢？", "RAID-6 需要多少块磁盘？"},
		// What it points to is in the answer, or in the question.
		{said("Which command shows who changed a line?", "> [1] git.txt\n> **git-blame shows who changed each line.**"), "Which options does it have?", "git-blame: Which options does it have?"},
		{said("Сколько дисков в массиве RAID-5 на складе?", "девять"), "Сколько из них запасных?", "RAID-5: Сколько из них запасных?"},
		{said("What is the discount of the summer sale?", "ten per cent"), "When does it end?", "discount summer sale: When does it end?"},
		// What is asked after anything but a name is about what was asked about.
		{said("What does autovacuum do?", vacuum), "and how do I turn it off?", "autovacuum: and how do I turn it off?"},
		{said("Что делает autovacuum?", vacuum), "а как его отключить?", "autovacuum: а как его отключить?"},
		{said("autovacuum 有什么作用？", vacuum), "怎么关闭它？", "autovacuum 作用: 怎么关闭它？"},
		// A question of its own stays as it is.
		{said(raid), "What is the default of shared_buffers in PostgreSQL?", "What is the default of shared_buffers in PostgreSQL?"},
		{said(raid), "And what is the default of shared_buffers?", "And what is the default of shared_buffers?"},
		{said("如何安装？"), "默认端口是多少？", "默认端口是多少？"},
	} {
		if got := StandAlone(c.question, c.history); got != c.want {
			t.Errorf("%q after %q:\n%q, want\n%q", c.question, c.history, got, c.want)
		}
	}
}
