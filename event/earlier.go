package event

// Earlier returns data as programs told it that did not know the fields which its
// kind got later. A log may have either form: a run that an earlier program began
// may have been ended by this one.
func Earlier(d Data) Data {
	switch d := d.(type) {
	case ClarifyAsked:
		d.Iteration = 0
		return d
	case AgentStarted:
		d.ID = ""
		return d
	case AgentAction:
		d.Iteration = 0
		return d
	case AgentReasoning:
		d.Iteration, d.Reasoning = 0, nil
		return d
	case Message:
		d.Answer, d.Citations = "", nil
		return d
	}
	return d
}
