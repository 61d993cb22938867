package cli

// owned says whether an error means that another process owns the directory.
func owned(error) bool { return false }
