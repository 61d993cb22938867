package chromium

// renderInChild is for tests that kill, which Windows has none of.
func renderInChild() {}
