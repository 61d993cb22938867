// Command fetch puts the documents that bench/questions asks about into a folder.
//
//	go run ./bench/questions/fetch [-from DIR] [-list FILE] [-to DIR]
//
// The documents belong to others, so the repository names them (repository,
// commit, path, SHA-256) and holds none of them. DIR of -from may have copies of
// their git repositories, bare or not: DIR/owner+name, DIR/owner+name/repo,
// DIR/owner/name or one of these with .git. What is not there is fetched from
// GitHub, only the commit and the files that are named. A file that is already
// in its place and whole is left alone.
//
// What cannot be had, or is not what the list says, is named on standard error
// and the command fails; the rest is in place all the same.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, complaints io.Writer) error {
	flags := flag.NewFlagSet("fetch", flag.ContinueOnError)
	from := flags.String("from", "", "`directory` with copies of the git repositories")
	list := flags.String("list", "bench/questions/documents.tsv", "`file` that names the documents")
	to := flags.String("to", "bench/questions/documents", "`directory` that gets them")
	remote := flags.String("remote", "https://github.com", "`address` before owner/name, for what -from does not have; empty = nowhere")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(*list)
	if err != nil {
		return err
	}
	documents, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", *list, err)
	}
	tmp, err := os.MkdirTemp("", "questions-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()

	s := shelf{from: *from, remote: *remote, tmp: tmp, repos: map[string]repository{}}
	there, fetched, missing := 0, 0, 0
	for _, d := range documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		place := filepath.Join(*to, d.folder, d.name)
		if have, err := os.ReadFile(place); err == nil && sum(have) == d.sha256 {
			there++
			continue
		}
		if err := s.put(ctx, d, place); err != nil {
			missing++
			fmt.Fprintf(complaints, "missing: %s/%s (%s %s): %v\n", d.folder, d.name, d.repo, d.path, err)
			continue
		}
		fetched++
	}
	fmt.Fprintf(out, "%d documents in %s: %d fetched, %d were there, %d missing\n", len(documents), *to, fetched, there, missing)
	if missing > 0 {
		return fmt.Errorf("%d of %d documents are missing", missing, len(documents))
	}
	return nil
}

// document is a line of the list.
type document struct{ folder, name, repo, commit, path, sha256 string }

// Names that git takes for nothing else.
var (
	repoName   = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[\w.-]+$`)
	commitName = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// parse reads the list: folder, file, repository, commit, path, SHA-256, bytes
// and licence, with tabs between; lines with # are comments.
func parse(list string) ([]document, error) {
	var documents []document
	for i, line := range strings.Split(strings.TrimSpace(list), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 8 {
			return nil, fmt.Errorf("line %d: %d fields, not 8", i+1, len(f))
		}
		d := document{folder: f[0], name: f[1], repo: f[2], commit: f[3], path: f[4], sha256: f[5]}
		if !filepath.IsLocal(filepath.Join(d.folder, d.name)) || !repoName.MatchString(d.repo) || !commitName.MatchString(d.commit) {
			return nil, fmt.Errorf("line %d: %q of %q at %q has no place here", i+1, d.name, d.repo, d.commit)
		}
		documents = append(documents, d)
	}
	return documents, nil
}

// shelf finds repositories, each once.
type shelf struct {
	from, remote, tmp string
	repos             map[string]repository
}

// repository is a git directory, or why there is none.
type repository struct {
	dir string
	err error
}

// put writes a document to its place. What is not the document of the list is
// not written.
func (s *shelf) put(ctx context.Context, d document, place string) error {
	repo, known := s.repos[d.repo]
	if !known {
		repo.dir, repo.err = s.open(ctx, d.repo, d.commit)
		s.repos[d.repo] = repo
	}
	if repo.err != nil {
		return repo.err
	}
	data, err := git(ctx, repo.dir, "cat-file", "blob", d.commit+":"+d.path)
	if err != nil {
		return err
	}
	if got := sum(data); got != d.sha256 {
		return fmt.Errorf("its SHA-256 is %s, not %s", got, d.sha256)
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o750); err != nil {
		return err
	}
	return os.WriteFile(place, data, 0o600)
}

// open finds the repository among the copies, or fetches the commit without its
// files: git asks for each of them when it is read.
func (s *shelf) open(ctx context.Context, repo, commit string) (string, error) {
	if dir := s.copied(ctx, repo, commit); dir != "" {
		return dir, nil
	}
	if s.remote == "" {
		return "", fmt.Errorf("no copy of %s with commit %.12s", repo, commit)
	}
	dir := filepath.Join(s.tmp, strings.ReplaceAll(repo, "/", "+"))
	if err := os.Mkdir(dir, 0o750); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare"},
		{"remote", "add", "origin", strings.TrimSuffix(s.remote, "/") + "/" + repo},
		{"config", "remote.origin.promisor", "true"},
		{"config", "remote.origin.partialclonefilter", "blob:none"},
		{"fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", commit},
	} {
		if _, err := git(ctx, dir, args...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// copied is the git directory of a copy that has the commit, or "".
func (s *shelf) copied(ctx context.Context, repo, commit string) string {
	if s.from == "" {
		return ""
	}
	for _, name := range []string{strings.ReplaceAll(repo, "/", "+"), repo} {
		for _, below := range []string{"", ".git", "/.git", "/repo", "/repo/.git"} {
			dir := filepath.Join(s.from, name+below)
			if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
				continue
			}
			if _, err := git(ctx, dir, "cat-file", "-e", commit+"^{commit}"); err == nil {
				return dir
			}
		}
	}
	return ""
}

// git runs git on a git directory and returns what it prints.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.Output()
	if fault, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(fault.Stderr))
	}
	return out, err
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
