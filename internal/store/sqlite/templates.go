package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dossier/internal/fleet"
)

func noTemplate(name string) error { return fmt.Errorf("template %q: %w", name, fleet.ErrNoTemplate) }

func noVersion(name string, n int) error {
	return fmt.Errorf("template %q: version %d: %w", name, n, fleet.ErrNoVersion)
}

const selectTemplate = "SELECT n, name, user, published, latest, deprecated, created, updated FROM templates "

func scanTemplate(row scanner) (n int64, t fleet.Template, err error) {
	var deprecated int64
	err = row.Scan(&n, &t.Name, &t.User, &t.Published, &t.Latest, &deprecated, timeAt{&t.Created}, timeAt{&t.Updated})
	t.Deprecated = deprecated != 0
	return n, t, err
}

// Templates implements fleet.Templates.
func (s *Store) Templates(ctx context.Context) ([]fleet.Template, error) {
	var list []fleet.Template
	err := s.each(ctx, selectTemplate+"ORDER BY name", nil, func(row scanner) error {
		_, t, err := scanTemplate(row)
		list = append(list, t)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	return list, nil
}

// Template implements fleet.Templates.
func (s *Store) Template(ctx context.Context, name string) (t fleet.Template, err error) {
	err = s.snapshot(ctx, func(q querier) error {
		var n int64
		err := q.query(ctx, selectTemplate+"WHERE name = ?", []any{name}, func(row scanner) (err error) {
			n, t, err = scanTemplate(row)
			return err
		})
		switch {
		case err != nil:
			return err
		case n == 0:
			return noTemplate(name)
		}
		err = q.query(ctx, "SELECT n, state, note, author, created FROM template_versions WHERE template = ? ORDER BY n", []any{n}, func(row scanner) error {
			v := fleet.Version{Template: name}
			err := row.Scan(&v.N, &v.State, &v.Note, &v.Author, timeAt{&v.Created})
			t.Versions = append(t.Versions, v)
			return err
		})
		if err != nil {
			return err
		}
		return q.query(ctx, "SELECT version, time FROM publications WHERE template = ? ORDER BY id", []any{n}, func(row scanner) error {
			var p fleet.Publication
			err := row.Scan(&p.Version, timeAt{&p.At})
			t.Publications = append(t.Publications, p)
			return err
		})
	})
	if err != nil {
		return fleet.Template{}, err
	}
	return t, nil
}

// TemplateVersion implements fleet.Templates.
func (s *Store) TemplateVersion(ctx context.Context, name string, n int) (fleet.Version, error) {
	v := fleet.Version{Template: name}
	err := s.row(ctx, `SELECT coalesce(v.n, 0), coalesce(v.state, ''), coalesce(v.note, ''), coalesce(v.author, ''), coalesce(v.created, 0), coalesce(v.document, '')
		FROM templates t LEFT JOIN template_versions v
		ON v.template = t.n AND v.n = CASE WHEN ?2 <> 0 THEN ?2 WHEN t.published <> 0 THEN t.published ELSE t.latest END
		WHERE t.name = ?1`, []any{name, n}, &v.N, &v.State, &v.Note, &v.Author, timeAt{&v.Created}, textOf{&v.Document})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fleet.Version{}, noTemplate(name)
	case err != nil:
		return fleet.Version{}, fmt.Errorf("template %q: %w", name, err)
	case v.N == 0:
		return fleet.Version{}, noVersion(name, n)
	}
	return v, nil
}

// template finds a template to change.
func (t *tx) template(name string) (n int64, rec fleet.Template, err error) {
	err = t.w.conn.each(selectTemplate+"WHERE name = ?", []any{name}, func(row scanner) (err error) {
		n, rec, err = scanTemplate(row)
		return err
	})
	if err == nil && n == 0 {
		err = noTemplate(name)
	}
	return n, rec, err
}

func (t *tx) putVersion(template int64, v *fleet.Version, document any) error {
	return t.exec("INSERT INTO template_versions (template, n, state, note, author, created, document) VALUES (?, ?, ?, ?, ?, ?, ?)",
		template, v.N, string(v.State), v.Note, v.Author, moment(v.Created), document)
}

// CreateTemplate implements fleet.Templates.
func (s *Store) CreateTemplate(ctx context.Context, name string, v fleet.Version) error {
	v.N, v.State = 1, fleet.Draft
	document := pack([]byte(v.Document))
	return s.writer.do(ctx, len(v.Document), func(tx *tx) error {
		n, _, err := tx.template(name)
		switch {
		case err == nil:
			return fmt.Errorf("template %q: %w", name, fleet.ErrExists)
		case !errors.Is(err, fleet.ErrNoTemplate):
			return err
		}
		err = tx.row("INSERT INTO templates (name, user, latest, created, updated) VALUES (?1, ?2, 1, ?3, ?3) RETURNING n", []any{name, v.User, moment(v.Created)}, &n)
		if err != nil {
			return err
		}
		return tx.putVersion(n, &v, document)
	})
}

// AddTemplateVersion implements fleet.Templates.
func (s *Store) AddTemplateVersion(ctx context.Context, name string, v fleet.Version) (_ fleet.Version, added bool, err error) {
	v.Template, v.State = name, fleet.Draft
	document := pack([]byte(v.Document))
	var latest fleet.Version
	err = s.writer.do(ctx, len(v.Document), func(tx *tx) error {
		n, t, err := tx.template(name)
		if err != nil {
			return err
		}
		if v.User != "" && v.User != t.User {
			return fmt.Errorf("template %q: %w", name, fleet.ErrExists)
		}
		latest = fleet.Version{Template: name}
		err = tx.row("SELECT n, state, note, author, created, document FROM template_versions WHERE template = ? AND n = ?", []any{n, t.Latest},
			&latest.N, &latest.State, &latest.Note, &latest.Author, timeAt{&latest.Created}, textOf{&latest.Document})
		if err != nil {
			return err
		}
		if added = latest.Document != v.Document; !added {
			return nil
		}
		v.N = t.Latest + 1
		if err := tx.putVersion(n, &v, document); err != nil {
			return err
		}
		return tx.exec("UPDATE templates SET latest = ?, updated = ? WHERE n = ?", v.N, moment(v.Created), n)
	})
	switch {
	case err != nil:
		return fleet.Version{}, false, err
	case !added:
		return latest, false, nil
	}
	v.User = ""
	return v, true, nil
}

// PublishVersion implements fleet.Templates.
func (s *Store) PublishVersion(ctx context.Context, name string, version int, at time.Time) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		n, t, err := tx.template(name)
		switch {
		case err != nil:
			return err
		case version < 1 || version > t.Latest:
			return noVersion(name, version)
		case t.Published == version && !t.Deprecated:
			return nil
		}
		if err := tx.exec("UPDATE template_versions SET state = ? WHERE template = ? AND n = ?", string(fleet.Published), n, version); err != nil {
			return err
		}
		if err := tx.exec("UPDATE templates SET published = ?, deprecated = 0, updated = ? WHERE n = ?", version, moment(at), n); err != nil {
			return err
		}
		return tx.exec("INSERT INTO publications (template, version, time) VALUES (?, ?, ?)", n, version, moment(at))
	})
}

// DeprecateVersion implements fleet.Templates.
func (s *Store) DeprecateVersion(ctx context.Context, name string, version int, at time.Time) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		n, t, err := tx.template(name)
		switch {
		case err != nil:
			return err
		case version < 0 || version > t.Latest:
			return noVersion(name, version)
		}
		if err := tx.exec("UPDATE template_versions SET state = ? WHERE template = ? AND ? IN (0, n)", string(fleet.Deprecated), n, version); err != nil {
			return err
		}
		return tx.exec("UPDATE templates SET deprecated = max(deprecated, ?), updated = ? WHERE n = ?", flag(version == 0), moment(at), n)
	})
}

// DeleteTemplate implements fleet.Templates.
func (s *Store) DeleteTemplate(ctx context.Context, name string) error {
	return s.writer.do(ctx, 0, func(tx *tx) error {
		n, _, err := tx.template(name)
		if err != nil {
			return err
		}
		var used int64
		switch err := tx.row("SELECT 1 FROM instances WHERE template = ? LIMIT 1", []any{n}, &used); {
		case err == nil:
			return fmt.Errorf("template %q: %w", name, fleet.ErrInUse)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		return tx.exec("DELETE FROM templates WHERE n = ?", n) // the rest follows by foreign keys
	})
}

// checkTemplates verifies that templates have the versions that they say.
func (s *Store) checkTemplates(ctx context.Context) error {
	var name string
	err := s.reader.QueryRowContext(ctx, `SELECT name FROM templates t WHERE published > latest
		OR latest <> (SELECT count(*) FROM template_versions WHERE template = t.n)
		OR latest <> (SELECT max(n) FROM template_versions WHERE template = t.n) LIMIT 1`).Scan(&name)
	switch {
	case err == nil:
		return fmt.Errorf("check database: versions of template %q are missing: %w", name, damaged(s.path))
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("check database: %w", explain(err, s.path))
	}
	return nil
}
