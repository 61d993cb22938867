package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/agent"
)

// VersionState says what a version is good for.
type VersionState string

// The states of a version. Several versions can have been published; which
// one is used is Template.Published.
const (
	Draft      VersionState = "draft"
	Published  VersionState = "published"
	Deprecated VersionState = "deprecated"
)

// Template is a name with numbered versions.
type Template struct {
	Name string `json:"name"`
	// User whose it is; "" is the operator's.
	User string `json:"user,omitempty"`
	// Published is the version that is used where none is named; 0 when none
	// was published.
	Published int `json:"published,omitempty"`
	Latest    int `json:"latest"`
	// Deprecated templates get no new instances. What is made from them works on.
	Deprecated bool      `json:"deprecated,omitempty"`
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
	// Versions, without documents, and publications, the oldest first. Lists
	// of templates leave them out.
	Versions     []Version     `json:"versions,omitempty"`
	Publications []Publication `json:"publications,omitempty"`
}

// Version is one state of a template. Its document never changes.
type Version struct {
	Template string       `json:"template"`
	N        int          `json:"version"`
	State    VersionState `json:"state"`
	Note     string       `json:"note,omitempty"`
	Author   string       `json:"author,omitempty"`
	Created  time.Time    `json:"created"`
	// Document is the agent's definition as its author wrote it.
	Document string `json:"document,omitempty"`
	// User who adds it, while it is added.
	User string `json:"-"`
}

// Publication is a moment at which a version became the published one.
type Publication struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
}

// Text is a version as somebody hands it in.
type Text struct {
	Document string
	Note     string
	Author   string
	// User whose template it becomes; "" is the operator, who may add versions
	// to everybody's.
	User string
}

// maxDocument is more than any definition needs and less than a store minds.
const maxDocument = 1 << 20

// Create adds a template with its first version, a draft.
func (f *Fleet) Create(ctx context.Context, name string, t Text) (Version, error) {
	if err := checkName("template", name); err != nil {
		return Version{}, err
	}
	if err := f.checkText(name, t); err != nil {
		return Version{}, err
	}
	v := f.version(name, t)
	err := f.store.CreateTemplate(ctx, name, v)
	if errors.Is(err, ErrExists) {
		err = fmt.Errorf("%w: add a version to it, or choose another name", err)
	}
	if err != nil {
		return Version{}, fmt.Errorf("create template %q: %w", name, err)
	}
	return v, nil
}

func (f *Fleet) version(name string, t Text) Version {
	return Version{Template: name, N: 1, State: Draft, Note: t.Note, Author: t.Author, Created: f.now().UTC(), Document: t.Document, User: t.User}
}

// checkText says what is wrong with a document.
func (f *Fleet) checkText(name string, t Text) error {
	switch {
	case strings.TrimSpace(t.Document) == "":
		return refuse("template %q: the document is empty: write the agent's definition into it", name)
	case len(t.Document) > maxDocument:
		return refuse("template %q: the document has %d bytes, and %d is the most: keep large texts in files", name, len(t.Document), maxDocument)
	case !utf8.ValidString(t.Document):
		return refuse("template %q: the document is not UTF-8 text: save it as UTF-8", name)
	}
	if _, err := f.check(name, []byte(t.Document)); err != nil {
		return fmt.Errorf("template %q: %w", name, err)
	}
	return nil
}

// Templates lists all templates by name.
func (f *Fleet) Templates(ctx context.Context) ([]Template, error) { return f.store.Templates(ctx) }

// Template returns a template with its versions and publications.
func (f *Fleet) Template(ctx context.Context, name string) (Template, error) {
	t, err := f.store.Template(ctx, name)
	return t, f.explain(ctx, name, err)
}

// Version returns a version with its document; 0 is the published one, and the
// latest where none is.
func (f *Fleet) Version(ctx context.Context, name string, n int) (Version, error) {
	v, err := f.store.TemplateVersion(ctx, name, n)
	return v, f.explain(ctx, name, err)
}

// Definition returns what a run of a version is made of. A version that was
// right when it was added can be wrong now: tools come and go.
func (f *Fleet) Definition(ctx context.Context, name string, n int) (agent.Definition, Version, error) {
	v, err := f.Version(ctx, name, n)
	if err != nil {
		return agent.Definition{}, Version{}, err
	}
	d, err := f.check(name, []byte(v.Document))
	if err != nil {
		return agent.Definition{}, v, fmt.Errorf("template %q, version %d: %w", name, v.N, err)
	}
	return d, v, nil
}

// AddVersion adds a draft. When the document is the latest version's, nothing
// is added and the answer is that version.
func (f *Fleet) AddVersion(ctx context.Context, name string, t Text) (_ Version, added bool, err error) {
	if err := f.checkText(name, t); err != nil {
		return Version{}, false, err
	}
	v, added, err := f.store.AddTemplateVersion(ctx, name, f.version(name, t))
	return v, added, f.explain(ctx, name, err)
}

// Diff says line by line how version b differs from version a. It is empty
// when their documents are the same.
func (f *Fleet) Diff(ctx context.Context, name string, a, b int) (string, error) {
	from, err := f.Version(ctx, name, a)
	if err != nil {
		return "", err
	}
	to, err := f.Version(ctx, name, b)
	if err != nil {
		return "", err
	}
	title := func(v Version) string { return fmt.Sprintf("%s version %d (%s)", name, v.N, v.State) }
	return unified(title(from), title(to), from.Document, to.Document), nil
}

// Publish makes a version the one that is used where none is named. Its
// document is checked again.
func (f *Fleet) Publish(ctx context.Context, name string, n int) error {
	if n < 1 {
		return refuse("publish template %q: say which version: they are counted from 1", name)
	}
	if _, _, err := f.Definition(ctx, name, n); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return f.explain(ctx, name, f.store.PublishVersion(ctx, name, n, f.now().UTC()))
}

// RollBack publishes a version again that was published before; 0 is the one
// before the present one. Nothing is lost: later versions stay, and the
// publications tell what happened. It returns the version that is published now.
func (f *Fleet) RollBack(ctx context.Context, name string, n int) (int, error) {
	t, err := f.Template(ctx, name)
	if err != nil {
		return 0, err
	}
	if n == 0 {
		for _, p := range slices.Backward(t.Publications) {
			if p.Version != t.Published {
				n = p.Version
				break
			}
		}
		if n == 0 {
			return 0, refuse("roll back template %q: no other version was published before", name)
		}
	}
	switch {
	case n == t.Published:
		return 0, refuse("roll back template %q: version %d is the published one already", name, n)
	case !slices.ContainsFunc(t.Publications, func(p Publication) bool { return p.Version == n }):
		return 0, refuse("roll back template %q: version %d was never published: publish it instead", name, n)
	}
	return n, f.Publish(ctx, name, n)
}

// Deprecate marks a version that should not be used any more, or with 0 the
// template as a whole, which gets no new instances then. Publishing undoes it.
func (f *Fleet) Deprecate(ctx context.Context, name string, n int) error {
	if n != 0 {
		t, err := f.Template(ctx, name)
		if err != nil {
			return err
		}
		if n == t.Published && !t.Deprecated {
			return refuse("deprecate template %q: version %d is the published one: publish another first, or deprecate the template as a whole", name, n)
		}
	}
	return f.explain(ctx, name, f.store.DeprecateVersion(ctx, name, n, f.now().UTC()))
}

// Delete removes a template with its versions and statistics. It is refused
// while there are instances of it.
func (f *Fleet) Delete(ctx context.Context, name string) error {
	err := f.store.DeleteTemplate(ctx, name)
	if errors.Is(err, ErrInUse) {
		n, _ := f.store.CountInstances(ctx, Filter{Template: name}) // the count is a courtesy
		users := "an instance"
		if n > 1 {
			users = fmt.Sprintf("%d instances", n)
		}
		return fmt.Errorf("delete template %q: %w by %s: remove what uses it first, or deprecate the template", name, ErrInUse, users)
	}
	return f.explain(ctx, name, err)
}

// explain adds to an error of a template what can be done about it.
func (f *Fleet) explain(ctx context.Context, name string, err error) error {
	switch {
	case errors.Is(err, ErrNoTemplate):
		var names []string
		if all, err := f.store.Templates(ctx); err == nil {
			for i := range all {
				names = append(names, all[i].Name)
			}
		}
		return fmt.Errorf("template %q: %w%s", name, ErrNoTemplate, meant(name, names))
	case errors.Is(err, ErrNoVersion):
		if t, e := f.store.Template(ctx, name); e == nil {
			return fmt.Errorf("%w: they are counted from 1 to %d", err, t.Latest)
		}
	}
	return err
}
