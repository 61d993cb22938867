package chromium

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// group counts the processes of a group that still run, and the memory that is
// theirs alone.
func group(id int) (processes int, memory int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (name) state ppid pgrp …, and the name may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(id) || fields[0][0] == 'Z' {
			continue
		}
		processes++
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		_, rest, _ := bytes.Cut(status, []byte("RssAnon:"))
		if f := bytes.Fields(rest); len(f) > 0 {
			kib, _ := strconv.ParseInt(string(f[0]), 10, 64)
			memory += kib << 10
		}
	}
	return processes, memory
}
