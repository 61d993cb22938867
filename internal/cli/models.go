package cli

type modelsCmd struct{}

func (modelsCmd) Run(a *app) error { return nil }
