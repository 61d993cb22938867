package cli

type chatCmd struct{}

func (chatCmd) Run(a *app) error { return nil }
