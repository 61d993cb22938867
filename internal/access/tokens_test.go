package access_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/internal/access"
	"dossier/internal/base/usage"
	"dossier/internal/store/memory"
)

func TestTokens(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := memory.New(memory.Options{})
	keys := access.NewKeys(store, func() time.Time { return now })
	made, text, err := keys.Create(t.Context(), access.Token{User: "ann", Note: "laptop", Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, access.Prefix) || len(text) < 40 || !slices.Equal(made.Scopes, access.Usual) {
		t.Errorf("%q, %+v", text, made)
	}
	kept, err := store.Token(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if secret := text[strings.LastIndexByte(text, '_')+1:]; bytes.Contains(kept.Hash, []byte(secret)) || len(kept.Hash) != 32 {
		t.Errorf("what is kept of the token: %+v", kept)
	}
	caller, err := keys.Check(t.Context(), text)
	if err != nil || caller.User != "ann" || caller.Token != made.ID || !caller.May(access.Run) || caller.May(access.Admin) || caller.Operates() {
		t.Errorf("%+v, %v", caller, err)
	}
	if kept, err = store.Token(t.Context(), made.ID); err != nil || !kept.Used.Equal(now) {
		t.Errorf("used %v, %v", kept.Used, err)
	}
	for name, wrong := range map[string]string{
		"none": "", "another secret": text[:len(text)-1] + "!", "a part": text[:len(text)-4], "another id": strings.Replace(text, made.ID, "aaaaaaaaaa", 1),
		"no secret": access.Prefix + made.ID + "_", "of somebody else": "sk-" + text, "only the prefix": access.Prefix,
	} {
		if _, err := keys.Check(t.Context(), wrong); !errors.Is(err, access.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	now = now.Add(time.Hour)
	if _, err := keys.Check(t.Context(), text); !errors.Is(err, access.ErrRefused) {
		t.Errorf("a token that has expired: %v", err)
	}
	now = now.Add(-time.Minute)
	if err := keys.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Check(t.Context(), text); !errors.Is(err, access.ErrRefused) {
		t.Errorf("a token that was revoked: %v", err)
	}
}

func TestTokensThatAreNot(t *testing.T) {
	keys := access.NewKeys(memory.New(memory.Options{}), nil)
	for name, asked := range map[string]access.Token{
		"name":  {User: "a b"},
		"path":  {User: "../x"},
		"admin": {User: "ann", Scopes: []access.Scope{access.Admin}},
		"past":  {User: "ann", Expires: time.Now().Add(-time.Second)},
	} {
		if _, _, err := keys.Create(t.Context(), asked); err == nil {
			t.Errorf("%s: a token was made", name)
		} else if _, ok := errors.AsType[*usage.Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := access.ParseScopes([]string{"read", "rum"}); err == nil {
		t.Error("a scope that there is not")
	}
	if got, err := access.ParseScopes([]string{"read", " run", "read"}); err != nil || !slices.Equal(got, access.Usual) {
		t.Errorf("%v, %v", got, err)
	}
}
