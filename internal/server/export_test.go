package server

// Protocols are all that a server serves.
func (p *Public) Protocols() []Protocol { return p.protocols() }
