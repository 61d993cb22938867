package config_test

import (
	"fmt"

	"dossier/internal/config"
)

func ExampleLoad() {
	cfg, err := config.Load(config.Sources{
		Env:   []string{"OPENAI_API_KEY=sk-123", "CHAT_MODEL=gpt-4o"},
		File:  config.NoFile,
		Flags: map[string]string{"chat.history_limit": "6"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := cfg.Model(config.RoleChat)
	fmt.Println(cfg.Chat.HistoryLimit, m.Provider, m.Model, m.APIKey, m.Configured())
	// Output: 6 openai gpt-4o *** true
}
