package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"dossier/internal/fleet"
)

func noInstance(key string) error { return fmt.Errorf("instance %q: %w", key, fleet.ErrNoInstance) }

// The template's name is looked up per row: joined, it could become the outer
// loop, and the rows would have to be sorted.
const selectInstance = `SELECT id, name, user, (SELECT name FROM templates t WHERE t.n = i.template), version, slots, queue, closed, labels, created, last_used, served
	FROM instances i `

func scanInstance(row scanner) (i fleet.Instance, err error) {
	var closed sql.NullString
	var labels []byte
	err = row.Scan(&i.ID, &i.Name, &i.User, &i.Template, &i.Version, &i.Slots, &i.Queue, &closed, bytesOf{&labels}, timeAt{&i.Created}, timeAt{&i.LastUsed}, &i.Served)
	if err != nil {
		return i, err
	}
	i.State = fleet.Ready
	if closed.Valid {
		i.State = fleet.State(closed.String)
	}
	if labels != nil {
		i.Labels, err = decodeStrings(labels)
	}
	return i, err
}

// closedAs returns a state as it is stored.
func closedAs(s fleet.State) any {
	if s == fleet.Ready {
		return nil
	}
	return string(s)
}

// Instance implements fleet.Instances.
func (s *Store) Instance(ctx context.Context, key string) (i fleet.Instance, err error) {
	found := false
	err = s.each(ctx, selectInstance+"WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1", []any{key}, func(row scanner) (err error) {
		found = true
		i, err = scanInstance(row)
		return err
	})
	switch {
	case err != nil:
		return fleet.Instance{}, fmt.Errorf("instance %q: %w", key, err)
	case !found:
		return fleet.Instance{}, noInstance(key)
	}
	return i, nil
}

// narrowed returns the condition of a filter and its arguments.
func narrowed(f fleet.Filter) (where string, args []any) {
	conditions := []string{"name > ?"}
	args = []any{f.After}
	if f.Template != "" {
		conditions, args = append(conditions, "template = (SELECT n FROM templates WHERE name = ?)"), append(args, f.Template)
	}
	if f.Prefix != "" {
		// No name has a character as high as this one.
		conditions, args = append(conditions, "name >= ? AND name < ?"), append(args, f.Prefix, f.Prefix+"\x7f")
	}
	if f.User != "" {
		conditions, args = append(conditions, "user IN ('', ?)"), append(args, f.User)
	}
	switch f.State {
	case fleet.Ready:
		conditions = append(conditions, "closed IS NULL")
	case fleet.Stopped:
		conditions = append(conditions, "closed IS NOT NULL")
	}
	return "WHERE " + strings.Join(conditions, " AND "), args
}

// InstanceList implements fleet.Instances.
func (s *Store) InstanceList(ctx context.Context, f fleet.Filter) ([]fleet.Instance, error) {
	where, args := narrowed(f)
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	var list []fleet.Instance
	err := s.each(ctx, selectInstance+where+" ORDER BY name LIMIT ?", append(args, limit), func(row scanner) error {
		i, err := scanInstance(row)
		list = append(list, i)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("instances: %w", err)
	}
	return list, nil
}

// CountInstances implements fleet.Instances.
func (s *Store) CountInstances(ctx context.Context, f fleet.Filter) (n int, err error) {
	where, args := narrowed(f)
	if err := s.row(ctx, "SELECT count(*) FROM instances "+where, args, &n); err != nil {
		return 0, fmt.Errorf("instances: %w", err)
	}
	return n, nil
}

// AddInstances implements fleet.Instances. Of very many instances most of the
// time would go into looking for what is taken: the constraints do that.
func (s *Store) AddInstances(ctx context.Context, list []fleet.Instance) error {
	var at string // the instance that was tried last
	err := s.writer.do(ctx, 200*len(list), func(tx *tx) error {
		templates := map[string]int64{}
		for k := range list {
			i := &list[k]
			if templates[i.Template] == 0 {
				n, _, err := tx.template(i.Template)
				if err != nil {
					return fmt.Errorf("instance %q: %w", i.Name, err)
				}
				templates[i.Template] = n
			}
		}
		for k := range list {
			i := &list[k]
			at = i.Name
			var labels any
			if i.Labels != nil {
				labels = encodeStrings(i.Labels)
			}
			err := tx.exec(`INSERT INTO instances (id, name, user, template, version, slots, queue, closed, labels, created, last_used, served)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, i.ID, i.Name, i.User, templates[i.Template], i.Version, i.Slots, i.Queue,
				closedAs(i.State), labels, moment(i.Created), moment(i.LastUsed), i.Served)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if violated(err) {
		return fmt.Errorf("instance %q: %w", at, fleet.ErrExists)
	}
	return err
}

// setInstance changes a column of an instance.
func (s *Store) setInstance(ctx context.Context, statement, id string, value any) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		changed, err := tx.w.conn.exec(statement, value, id)
		if err == nil && changed == 0 {
			return noInstance(id)
		}
		return err
	})
}

// SetInstanceState implements fleet.Instances.
func (s *Store) SetInstanceState(ctx context.Context, id string, state fleet.State) error {
	statement := "UPDATE instances SET closed = ? WHERE id = ?"
	if state == fleet.Draining {
		statement = "UPDATE instances SET closed = coalesce(closed, ?) WHERE id = ?"
	}
	return s.setInstance(ctx, statement, id, closedAs(state))
}

// SetInstanceVersion implements fleet.Instances.
func (s *Store) SetInstanceVersion(ctx context.Context, id string, version int) error {
	return s.setInstance(ctx, "UPDATE instances SET version = ? WHERE id = ?", id, version)
}

// RemoveInstance implements fleet.Instances.
func (s *Store) RemoveInstance(ctx context.Context, id string) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		d, err := tx.desk("i.id = ?", id)
		switch {
		case err != nil:
			return err
		case d == nil:
			return noInstance(id)
		case d.awake:
			return fmt.Errorf("instance %q: %w", d.instance.Name, fleet.ErrInUse)
		}
		return tx.exec("DELETE FROM instances WHERE n = ?", d.n) // sessions follow by foreign keys
	})
}

const selectOwner = "SELECT i.id FROM instance_sessions s JOIN instances i ON i.n = s.instance WHERE s.session = ?"

// SessionOwner implements fleet.Instances.
func (s *Store) SessionOwner(ctx context.Context, session string) (owner string, err error) {
	if err := s.row(ctx, selectOwner, []any{session}, &owner); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	return owner, nil
}
