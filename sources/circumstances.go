package sources

import (
	"slices"

	"dossier/run"
	"dossier/search"
)

// Circumstances are what gathering depends on between the steps of a run, as it
// was when the run was created. What is there now counts inside of steps only,
// whose results are recorded: so the run's code takes the same way whenever it
// is taken up again, and with whatever configuration it is replayed.
type Circumstances struct {
	// Engines that were set up, in the order in which they were preferred.
	Engines []search.Info `json:"engines,omitempty"`
	// Rerankers that were set up, by their names in Tuning.Rerank.
	Rerankers []string `json:"rerankers,omitempty"`
}

// ranker says whether there is a reranker of that name as far as the run's code
// is concerned.
func (j *Job) ranker(name string) bool {
	if j.Known != nil {
		return slices.Contains(j.Known.Rerankers, name)
	}
	return j.Rerankers[name] != nil
}

// stepError is a failed step as whoever asked is told of it: what went wrong,
// and not where in the run that was. The kernel still knows the step, which a
// resumed run tries again.
type stepError struct{ *run.StepError }

func (e stepError) Error() string { return e.Fault.Message }
func (e stepError) Unwrap() error { return e.StepError }
