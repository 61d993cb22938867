package run

import (
	"context"
	"log/slog"
	"strings"

	"dossier/event"
	"dossier/internal/base/logs"
)

// mostLogged bounds what a line of the log says of an event, in bytes.
const mostLogged = 2000

// logTrouble writes what went wrong to the log of whoever works on the run,
// with the kind of the event as its step. Nothing else of a run is written
// there: the events are its log.
func logTrouble(log *slog.Logger, ev *event.Event) {
	var level slog.Level
	switch ev.Data.(type) {
	case event.RunError:
		level = slog.LevelError
	case event.ModelFailed, event.SourceFailed:
		level = slog.LevelWarn
	default:
		return
	}
	if !log.Enabled(context.Background(), level) {
		return
	}
	raw, err := event.EncodeData(ev.Data)
	if err != nil {
		return
	}
	text := string(raw)
	if len(text) > mostLogged {
		text = strings.ToValidUTF8(text[:mostLogged], "") + "…"
	}
	logs.WithStep(log, string(ev.Kind())).Log(context.Background(), level, text, "run", ev.Run, "seq", ev.Seq, "agent", ev.Agent)
}
