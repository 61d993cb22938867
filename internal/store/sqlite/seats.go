package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"dossier/internal/fleet"
)

// desk is an instance and what it has to do, as a write needs to know it.
type desk struct {
	n        int64 // of the instance
	instance fleet.Instance
	running  int64
	waiting  int64
	sessions int64
	clock    int64
	awake    bool // it has a row
}

const selectDesk = `SELECT i.n, i.id, i.name, i.slots, i.queue, i.closed, d.running, d.waiting, d.sessions, d.clock
	FROM instances i LEFT JOIN desks d ON d.instance = i.n WHERE `

// desk reads an instance by a condition; nil when there is none.
func (t *tx) desk(where string, arg any) (*desk, error) {
	var d *desk
	err := t.w.conn.each(selectDesk+where, []any{arg}, func(row scanner) error {
		d = new(desk)
		var closed sql.NullString
		var running, waiting, sessions, clock sql.NullInt64
		err := row.Scan(&d.n, &d.instance.ID, &d.instance.Name, &d.instance.Slots, &d.instance.Queue, &closed, &running, &waiting, &sessions, &clock)
		d.awake = running.Valid
		d.running, d.waiting, d.sessions, d.clock = running.Int64, waiting.Int64, sessions.Int64, clock.Int64
		d.instance.State = fleet.Ready
		if closed.Valid {
			d.instance.State = fleet.State(closed.String)
		}
		return err
	})
	return d, err
}

func (d *desk) load() fleet.Load {
	return fleet.Load{Running: int(d.running), Queued: int(d.waiting), Sessions: int(d.sessions)}
}

// keep stores what the desk has to do; one that has nothing has no row.
func (t *tx) keep(d *desk) error {
	switch {
	case d.running+d.waiting == 0:
		if !d.awake {
			return nil
		}
		return t.exec("DELETE FROM desks WHERE instance = ?", d.n)
	case !d.awake:
		return t.exec("INSERT INTO desks (instance, running, waiting, sessions, clock) VALUES (?, ?, ?, ?, ?)", d.n, d.running, d.waiting, d.sessions, d.clock)
	}
	return t.exec("UPDATE desks SET running = ?, waiting = ?, sessions = ?, clock = ? WHERE instance = ?", d.running, d.waiting, d.sessions, d.clock, d.n)
}

// tick returns the next number of the desk's clock.
func (d *desk) tick() int64 {
	d.clock++
	return d.clock
}

// has says whether a row is there.
func (t *tx) has(query string, args ...any) (bool, error) {
	var there int64
	err := t.row("SELECT EXISTS ("+query+")", args, &there)
	return there != 0, err
}

// Enter implements fleet.Seats.
func (s *Store) Enter(ctx context.Context, c fleet.Seat, how fleet.Arrival) (granted bool, err error) {
	err = s.writer.do(ctx, 200, func(tx *tx) (err error) {
		granted, err = tx.enter(c, how)
		return err
	})
	return granted, err
}

func (t *tx) enter(c fleet.Seat, how fleet.Arrival) (granted bool, err error) {
	d, err := t.desk("i.id = ?", c.Instance)
	switch {
	case err != nil:
		return false, err
	case d == nil:
		return false, noInstance(c.Instance)
	}
	if d.instance.State != fleet.Stopped {
		var slot int64
		switch err := t.row("SELECT slot FROM seats WHERE run = ?", []any{c.Run}, &slot); {
		case err == nil:
			return slot != 0, nil
		case !errors.Is(err, sql.ErrNoRows):
			return false, err
		}
	}
	if err := d.instance.Refuses(d.load(), how); err != nil {
		return false, err
	}
	if err := t.own(c.Session, d); err != nil {
		return false, err
	}
	known, err := t.has("SELECT 1 FROM seats WHERE instance = ? AND session = ?", d.n, c.Session)
	if err != nil {
		return false, err
	}
	if !known {
		d.sessions++
	}
	// While a slot is free nobody waits.
	if granted = d.running < int64(d.instance.Slots); granted {
		d.running++
	} else {
		d.waiting++
	}
	arrived := d.tick()
	if err := t.keep(d); err != nil {
		return false, err
	}
	err = t.exec(`INSERT INTO seats (run, instance, session, slot, fresh, arrived, epoch, since)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, coalesce((SELECT epoch FROM runs WHERE id = ?1), 0), ?7)`,
		c.Run, d.n, c.Session, flag(granted), flag(how != fleet.Resumed), arrived, moment(t.now))
	if err != nil || granted {
		return granted, err
	}
	return false, t.exec("INSERT OR IGNORE INTO lanes (instance, session, turn) VALUES (?, ?, ?)", d.n, c.Session, arrived)
}

// own makes a session that is nobody's the instance's.
func (t *tx) own(session string, d *desk) error {
	if session == "" {
		return nil
	}
	var owner string
	switch err := t.row(selectOwner, []any{session}, &owner); {
	case err == nil && owner == d.instance.ID:
		return nil
	case err == nil:
		return &fleet.SessionError{Session: session, Instance: d.instance.ID, Owner: owner}
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	if err := t.exec("UPDATE instances SET last_used = max(last_used, ?) WHERE n = ?", moment(t.now), d.n); err != nil {
		return err
	}
	return t.exec("INSERT INTO instance_sessions (session, instance) VALUES (?, ?)", session, d.n)
}

// seat is where a run is.
type seat struct {
	instance int64
	session  string
	slot     int64
}

// seated reads where a run is; nil when it is nowhere.
func (t *tx) seated(id string) (p *seat, err error) {
	err = t.w.conn.each("SELECT instance, session, slot FROM seats WHERE run = ?", []any{id}, func(row scanner) error {
		p = new(seat)
		return row.Scan(&p.instance, &p.session, &p.slot)
	})
	return p, err
}

// leave takes a run's seat away, if it has one, and returns who was given a slot
// by that.
func (t *tx) leave(id string) (granted []string, err error) {
	p, err := t.seated(id)
	if err != nil || p == nil {
		return nil, err
	}
	d, err := t.desk("i.n = ?", p.instance)
	if err != nil {
		return nil, err
	}
	if err := t.vacate(d, id, p); err != nil {
		return nil, err
	}
	if granted, err = t.next(d); err != nil {
		return nil, err
	}
	return granted, t.keep(d)
}

// vacate removes the row of a seat.
func (t *tx) vacate(d *desk, id string, p *seat) error {
	if err := t.exec("DELETE FROM seats WHERE run = ?", id); err != nil {
		return err
	}
	if p.slot != 0 {
		d.running--
	} else {
		d.waiting--
		waits, err := t.has("SELECT 1 FROM seats WHERE instance = ? AND session = ? AND slot = 0", d.n, p.session)
		if err != nil {
			return err
		}
		if !waits {
			if err := t.exec("DELETE FROM lanes WHERE instance = ? AND session = ?", d.n, p.session); err != nil {
				return err
			}
		}
	}
	there, err := t.has("SELECT 1 FROM seats WHERE instance = ? AND session = ?", d.n, p.session)
	if err == nil && !there {
		d.sessions--
	}
	return err
}

const (
	selectTurn = "SELECT session FROM lanes WHERE instance = ? ORDER BY turn LIMIT 1"
	selectNext = "SELECT run FROM seats WHERE instance = ? AND session = ? AND slot = 0 ORDER BY fresh, arrived LIMIT 2"
)

// next gives free slots to runs that wait.
func (t *tx) next(d *desk) (granted []string, err error) {
	for d.waiting > 0 && d.running < int64(d.instance.Slots) {
		var session string
		if err := t.row(selectTurn, []any{d.n}, &session); err != nil {
			return nil, fmt.Errorf("whose turn it is at instance %q: %w", d.instance.Name, err)
		}
		var first []string
		err := t.w.conn.each(selectNext, []any{d.n, session}, func(row scanner) error {
			var id string
			err := row.Scan(&id)
			first = append(first, id)
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case len(first) == 0:
			return nil, fmt.Errorf("instance %q: nobody waits in session %q", d.instance.Name, session)
		}
		if err := t.exec("UPDATE seats SET slot = 1, since = ? WHERE run = ?", moment(t.now), first[0]); err != nil {
			return nil, err
		}
		if len(first) > 1 {
			err = t.exec("UPDATE lanes SET turn = ? WHERE instance = ? AND session = ?", d.tick(), d.n, session)
		} else {
			err = t.exec("DELETE FROM lanes WHERE instance = ? AND session = ?", d.n, session)
		}
		if err != nil {
			return nil, err
		}
		d.running, d.waiting = d.running+1, d.waiting-1
		granted = append(granted, first[0])
	}
	return granted, nil
}

// somewhere says whether a run has a seat, by a read.
func (s *Store) somewhere(ctx context.Context, id string) (bool, error) {
	var slot int64
	err := s.row(ctx, "SELECT slot FROM seats WHERE run = ?", []any{id}, &slot)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Leave implements fleet.Seats.
func (s *Store) Leave(ctx context.Context, id string) (granted []string, err error) {
	if there, err := s.somewhere(ctx, id); err != nil || !there {
		return nil, err
	}
	err = s.writer.do(ctx, 100, func(tx *tx) (err error) {
		granted, err = tx.leave(id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the seat of run %q: %w", id, err)
	}
	return granted, nil
}

// Withdraw implements fleet.Seats.
func (s *Store) Withdraw(ctx context.Context, id string) (waited bool, err error) {
	if there, err := s.somewhere(ctx, id); err != nil || !there {
		return false, err
	}
	err = s.writer.do(ctx, 100, func(tx *tx) error {
		waited = false
		p, err := tx.seated(id)
		if err != nil || p == nil || p.slot != 0 {
			return err
		}
		waited = true
		_, err = tx.leave(id) // no slot gets free: nobody has anything of it
		return err
	})
	if err != nil {
		return false, fmt.Errorf("the seat of run %q: %w", id, err)
	}
	return waited, nil
}

// StopInstance implements fleet.Seats.
func (s *Store) StopInstance(ctx context.Context, id string) (running, waiting []string, err error) {
	err = s.writer.do(ctx, 0, func(tx *tx) error {
		running, waiting = nil, nil
		d, err := tx.desk("i.id = ?", id)
		switch {
		case err != nil:
			return err
		case d == nil:
			return noInstance(id)
		}
		if err := tx.exec("UPDATE instances SET closed = ? WHERE n = ?", string(fleet.Stopped), d.n); err != nil || !d.awake {
			return err
		}
		err = tx.w.conn.each("SELECT run, slot FROM seats WHERE instance = ?", []any{d.n}, func(row scanner) error {
			var run string
			var slot int64
			err := row.Scan(&run, &slot)
			if slot != 0 {
				running = append(running, run)
			} else {
				waiting = append(waiting, run)
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := tx.exec("DELETE FROM lanes WHERE instance = ?", d.n); err != nil {
			return err
		}
		if err := tx.exec("DELETE FROM seats WHERE instance = ? AND slot = 0", d.n); err != nil {
			return err
		}
		d.waiting = 0
		if err := tx.row("SELECT count(DISTINCT session) FROM seats WHERE instance = ?", []any{d.n}, &d.sessions); err != nil {
			return err
		}
		return tx.keep(d)
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(running)
	slices.Sort(waiting)
	return running, waiting, nil
}

// Loads implements fleet.Seats.
func (s *Store) Loads(ctx context.Context, ids ...string) (map[string]fleet.Load, error) {
	query, args := "SELECT i.id, d.running, d.waiting, d.sessions FROM desks d JOIN instances i ON i.n = d.instance", []any(nil)
	if len(ids) > 0 {
		asked, err := json.Marshal(ids)
		if err != nil {
			return nil, err
		}
		query, args = query+" WHERE i.id IN (SELECT value FROM json_each(?))", append(args, string(asked))
	}
	loads := map[string]fleet.Load{}
	err := s.each(ctx, query, args, func(row scanner) error {
		var id string
		var l fleet.Load
		err := row.Scan(&id, &l.Running, &l.Queued, &l.Sessions)
		loads[id] = l
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("what instances do: %w", err)
	}
	return loads, nil
}

const selectStanding = "SELECT run, slot FROM seats WHERE run IN (SELECT value FROM json_each(?))"

// Standing implements fleet.Seats.
func (s *Store) Standing(ctx context.Context, runs []string) (map[string]bool, error) {
	asked, err := json.Marshal(runs)
	if err != nil {
		return nil, err
	}
	slots := map[string]bool{}
	err = s.each(ctx, selectStanding, []any{string(asked)}, func(row scanner) error {
		var id string
		var slot int64
		err := row.Scan(&id, &slot)
		slots[id] = slot != 0
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("seats: %w", err)
	}
	return slots, nil
}

// selectHolders finds who has the slots of instances in which one of the runs of a
// list waits.
const selectHolders = `SELECT run FROM seats WHERE slot = 1
	AND instance IN (SELECT w.instance FROM seats w WHERE w.slot = 0 AND w.run IN (SELECT value FROM json_each(?)))`

// Holders implements fleet.Seats.
func (s *Store) Holders(ctx context.Context, runs []string) ([]string, error) {
	asked, err := json.Marshal(runs)
	if err != nil {
		return nil, err
	}
	ids, err := idsOf(func(scan func(row scanner) error) error {
		return s.each(ctx, selectHolders, []any{string(asked)}, scan)
	})
	if err != nil {
		return nil, fmt.Errorf("who has slots: %w", err)
	}
	slices.Sort(ids)
	return ids, nil
}

// selectStale finds the seats of runs that need none: they are gone or over, or
// rest since they had theirs, or have rested with a slot since before ?1.
const selectStale = `SELECT p.run FROM seats p LEFT JOIN runs r ON r.id = p.run
	WHERE r.id IS NULL OR r.status IN ('done', 'failed', 'cancelled')
	OR r.status IN ('waiting', 'paused') AND (r.epoch > p.epoch OR p.slot = 1 AND p.since < ?1) ORDER BY p.run`

// Settle implements fleet.Seats. Mostly there is nothing to do, and a read says
// so.
func (s *Store) Settle(ctx context.Context) (granted []string, err error) {
	before := moment(s.now().Add(-fleet.SeatGrace))
	stale, err := idsOf(func(scan func(row scanner) error) error { return s.each(ctx, selectStale, []any{before}, scan) })
	if err != nil || len(stale) == 0 {
		return nil, err
	}
	err = s.writer.do(ctx, 100*len(stale), func(tx *tx) error {
		granted = nil
		stale, err := idsOf(func(scan func(row scanner) error) error { return tx.w.conn.each(selectStale, []any{before}, scan) })
		if err != nil {
			return err
		}
		for _, id := range stale {
			next, err := tx.leave(id)
			if err != nil {
				return err
			}
			granted = append(granted, next...)
		}
		// One that was given a slot may have needed none.
		granted = slices.DeleteFunc(granted, func(id string) bool { return slices.Contains(stale, id) })
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("settle seats: %w", err)
	}
	return granted, nil
}

func idsOf(each func(scan func(row scanner) error) error) (ids []string, err error) {
	err = each(func(row scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}
