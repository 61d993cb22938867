package server_test

import (
	"errors"
	"fmt"
	"strings"

	"dossier"
	"dossier/internal/fleet"
	"dossier/mode"
)

const carefulAgent = `base_class: SGRAgent
description: Answers with care.
capabilities: [answers]
tools: [add_note_tool, final_answer_tool]
`

// fleetOperations are those of agents, on the same engine after the others.
var fleetOperations = []operation{
	{"agents", func(b *bench) []string {
		ctx := b.t.Context()
		list, err := b.Agents(ctx)
		out := []string{describe(err), fmt.Sprint(len(list) > 0)}
		for _, name := range []string{dossier.DefaultAgent, "nobody", "a/b?c", "careful@x"} {
			m, err := b.Agent(ctx, name)
			out = append(out, describe(err), m.Agent.Name, string(m.Agent.Decider))
		}
		return out
	}},
	{"templates", func(b *bench) []string {
		ctx := b.t.Context()
		empty, err := b.Templates(ctx)
		out := []string{describe(err), fmt.Sprint(len(empty))}
		save := func(name, document string) {
			v, added, err := b.SaveTemplate(ctx, name, fleet.Text{Document: document, Note: "n", Author: "a"})
			out = append(out, describe(err), fmt.Sprint(v.Template, v.N, v.State, v.Note, v.Author, added))
		}
		save("careful", carefulAgent)
		save("careful", carefulAgent)
		save("careful", strings.Replace(carefulAgent, "care", "great care", 1))
		save("careful", "")
		save("careful", "tols: [x]")
		save("careful", "tools: [nonsense]")
		save("no/name", carefulAgent)
		diff, err := b.DiffTemplate(ctx, "careful", 1, 2)
		out = append(out, describe(err), diff, describe(b.PublishTemplate(ctx, "careful", 1)), describe(b.PublishTemplate(ctx, "careful", 2)))
		out = append(out, describe(b.DeprecateTemplate(ctx, "careful", 2)))
		now, err := b.RollBackTemplate(ctx, "careful", 0)
		out = append(out, describe(err), fmt.Sprint(now), describe(b.DeprecateTemplate(ctx, "careful", 2)))
		t, err := b.Template(ctx, "careful")
		out = append(out, describe(err), fmt.Sprint(t.Name, t.Published, t.Latest, len(t.Publications)))
		for _, v := range t.Versions {
			out = append(out, fmt.Sprint(v.N, v.State, v.Document == ""))
		}
		for n := range 4 {
			v, err := b.TemplateVersion(ctx, "careful", n)
			out = append(out, describe(err), fmt.Sprint(v.N, v.Document))
		}
		stats, err := b.TemplateStats(ctx, "careful")
		return append(out, describe(err), fmt.Sprint(len(stats)))
	}},
	{"instances", func(b *bench) []string {
		ctx := b.t.Context()
		i, err := b.RegisterInstance(ctx, fleet.Instance{Name: "desk", Template: "careful", Slots: 1, Labels: []string{"night"}})
		out := []string{describe(err), fmt.Sprint(i.Name, i.Template, i.Version, i.Slots, i.Queue, i.State, i.Labels, i.ID != "")}
		_, err = b.RegisterInstance(ctx, fleet.Instance{Name: "desk", Template: "careful"})
		out = append(out, describe(err), fmt.Sprint(errors.Is(err, fleet.ErrExists)))
		_, err = b.RegisterInstance(ctx, fleet.Instance{Name: "other", Template: "carefu"})
		out = append(out, describe(err), fmt.Sprint(errors.Is(err, fleet.ErrNoTemplate)))
		out = append(out, describe(b.DrainInstance(ctx, "desk")))
		_, err = b.Start(ctx, dossier.Request{Mode: "agent", Request: mode.Request{Question: "hello", Instance: "desk"}})
		out = append(out, describe(err))
		out = append(out, describe(b.StartInstance(ctx, "desk")), describe(b.UpgradeInstance(ctx, "desk", 1)), describe(b.UpgradeInstance(ctx, "desk", 9)))
		for _, f := range []fleet.Filter{{}, {Template: "none"}, {State: fleet.Ready}, {After: "desk"}, {Limit: 1}, {State: "asleep"}, {Prefix: "de"}} {
			list, err := b.Instances(ctx, f)
			out = append(out, describe(err))
			for _, i := range list {
				out = append(out, fmt.Sprint("  ", i.Name, i.State, i.Version))
			}
		}
		s, err := b.Instance(ctx, i.ID)
		out = append(out, describe(err), fmt.Sprint(s.Name, s.Running, s.Queued, s.Sessions))
		out = append(out, describe(b.DeleteTemplate(ctx, "careful")), describe(b.StopInstance(ctx, "desk")), describe(b.RemoveInstance(ctx, "desk")))
		return append(out, describe(b.DeleteTemplate(ctx, "careful")))
	}},
	{"tools", func(b *bench) []string {
		ctx := b.t.Context()
		list, err := b.Tools(ctx)
		out := []string{describe(err), fmt.Sprint(len(list.Trouble))}
		for _, t := range list.Tools {
			if t.Name == "add_note_tool" {
				out = append(out, t.Origin, t.Effect, string(t.Schema))
			}
		}
		servers, err := b.MCPStatus(ctx)
		out = append(out, describe(err), fmt.Sprint(len(servers)))
		for _, args := range []string{`{"text": "kept"}`, `{"txt": 1}`, `no`} {
			_, err := b.Start(ctx, dossier.Request{Mode: "tool", Request: mode.Request{Question: args, Agent: "add_note_tool"}})
			out = append(out, describe(err))
		}
		return out
	}},
	{"mistakes with agents", func(b *bench) []string {
		ctx := b.t.Context()
		_, template := b.Template(ctx, "gone")
		_, version := b.TemplateVersion(ctx, "gone", 1)
		_, stats := b.TemplateStats(ctx, "gone")
		_, diff := b.DiffTemplate(ctx, "gone", 1, 2)
		_, back := b.RollBackTemplate(ctx, "gone", 0)
		_, instance := b.Instance(ctx, "gone")
		var out []string
		for _, err := range []error{
			template, version, stats, diff, back, b.PublishTemplate(ctx, "gone", 0), b.PublishTemplate(ctx, "gone", 1), b.DeprecateTemplate(ctx, "gone", 0),
			b.DeleteTemplate(ctx, "gone"), instance, b.StartInstance(ctx, "gone"), b.DrainInstance(ctx, "gone"), b.StopInstance(ctx, "gone"),
			b.UpgradeInstance(ctx, "gone", 0), b.RemoveInstance(ctx, "gone"),
		} {
			out = append(out, describe(err), fmt.Sprint(errors.Is(err, fleet.ErrNoTemplate), errors.Is(err, fleet.ErrNoInstance)))
		}
		return out
	}},
}
