package sse

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func lines(r io.Reader) ([]string, error) {
	s := NewReader(r)
	defer s.Release()
	var got []string
	for {
		data, err := s.Next()
		if err != nil {
			return got, err
		}
		got = append(got, string(data))
	}
}

func TestNext(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"data:a\r\n\r\ndata:  b\r\n", []string{"a", " b"}},
		{"data: a\ndata: b", []string{"a", "b"}},
		{": c\nid: 1\nretry: 2\nevent: x\ndata\ndata:\ndatax: y\ndata: a\n", []string{"a"}},
		{"\n\n\n", nil},
		{"data: " + strings.Repeat("x", 50000) + "\n\ndata: y\n", []string{strings.Repeat("x", 50000), "y"}},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(tc.in), "bytes": iotest.OneByteReader(strings.NewReader(tc.in)), "halves": iotest.HalfReader(strings.NewReader(tc.in)), "end with data": iotest.DataErrReader(strings.NewReader(tc.in))} {
			got, err := lines(r)
			if err != io.EOF || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%.40q %s: %.80q, %v", tc.in, name, got, err)
			}
		}
	}
}

func TestEndsWithTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	got, err := lines(io.MultiReader(strings.NewReader("data: a\ndata: half"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !reflect.DeepEqual(got, []string{"a"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := lines(iotest.ErrReader(nil)); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

func TestEventAndMore(t *testing.T) {
	s := NewReader(strings.NewReader("event: error\ndata: a\n: c\ndata: b\n\ndata: c\n"))
	defer s.Release()
	data, err := s.Next()
	if err != nil || string(s.Event()) != "error" {
		t.Fatal(string(s.Event()), err)
	}
	data, err = s.More(data)
	if err != nil || string(data) != "a\nb" {
		t.Fatalf("%q, %v", data, err)
	}
	if _, err = s.More(data); err != io.EOF {
		t.Fatal(err)
	}
	data, err = s.Next()
	if err != nil || string(data) != "c" || s.Tail() {
		t.Fatalf("%q, %v", data, err)
	}
}

func TestMoreHasAnEnd(t *testing.T) {
	s := NewReader(strings.NewReader(strings.Repeat("data: {\n", 5000)))
	defer s.Release()
	data, err := s.Next()
	for n := 0; err == nil; n++ {
		if n > maxJoint {
			t.Fatal("lines are joined without end")
		}
		data, err = s.More(data)
	}
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestPeekAndRest(t *testing.T) {
	s := NewReader(strings.NewReader("\ufeff \n {\"a\":1}\n"))
	defer s.Release()
	if c := s.Peek(); c != '{' {
		t.Errorf("%q", c)
	}
	if rest, err := s.Rest(); err != nil || string(rest) != "{\"a\":1}\n" {
		t.Errorf("%q, %v", rest, err)
	}
	empty := NewReader(strings.NewReader(" "))
	defer empty.Release()
	if c := empty.Peek(); c != 0 {
		t.Errorf("%q", c)
	}
}
