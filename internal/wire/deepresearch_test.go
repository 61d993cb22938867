package wire

import (
	"testing"

	"dossier/mode/evidence"
	"dossier/mode/supervised"
	"dossier/study"
)

// A request says whether its plan is looked at first; without a word it is as
// configured, and a way that there is not is refused.
func TestPlanOfARequest(t *testing.T) {
	for _, how := range []study.PlanReview{study.PlanAuto, study.PlanShow, study.PlanEdit} {
		loop, err := reviewed(evidence.Settings{Review: study.PlanAuto}, string(how))
		if s, ok := loop.(evidence.Settings); err != nil || !ok || s.Review != how {
			t.Errorf("%s: %+v %v", how, loop, err)
		}
		team, err := reviewed(supervised.Settings{Plan: study.PlanAuto}, string(how))
		if s, ok := team.(supervised.Settings); err != nil || !ok || s.Plan != how {
			t.Errorf("%s: %+v %v", how, team, err)
		}
	}
	if same, err := reviewed(evidence.Settings{Review: study.PlanShow}, ""); err != nil || same.(evidence.Settings).Review != study.PlanShow {
		t.Errorf("%+v %v", same, err)
	}
	if _, err := reviewed(evidence.Settings{}, "sideways"); err == nil {
		t.Error("a plan is looked at sideways")
	}
}
