package reader

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// workerEnv makes this program a worker; its value is the memory that it may
// take, in bytes.
const workerEnv = "DOSSIER_READER_WORKER"

// WorkerMain makes this process a worker if it was started as one, and does
// not return then. A program that reads documents calls it before anything
// else.
func WorkerMain() {
	v := os.Getenv(workerEnv)
	if v == "" {
		return
	}
	os.Unsetenv(workerEnv)
	memory, err := strconv.ParseInt(v, 10, 64)
	if err != nil || memory <= 0 {
		fmt.Fprintf(os.Stderr, "%s is not a number of bytes\n", workerEnv)
		os.Exit(2)
	}
	// Documents are short work with much garbage: it is collected less often
	// while there is room.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memory / 2)
	if err := limitMemory(memory); err != nil {
		fmt.Fprintln(os.Stderr, "limit memory:", err)
		os.Exit(2)
	}
	os.Exit(serve(os.Stdin, os.Stdout))
}

// job is the head of a request; the document's bytes follow it.
type job struct {
	URL         string `json:"url,omitempty"`
	ContentType string `json:"type,omitempty"`
	Format      Format `json:"format"`
	Limits      limits `json:"limits"`
	CPU         int    `json:"cpu"` // seconds
	Size        int    `json:"size"`
}

// reply is what a worker answers.
type reply struct {
	Page  *Page  `json:"page,omitempty"`
	Error *Error `json:"error,omitempty"` // about the document
	Fault string `json:"fault,omitempty"` // about the worker
}

const maxHead = 1 << 20

// serve answers requests until there are no more. When who asks is gone, the
// worker ends at once, whatever it is doing.
func serve(in io.Reader, out io.Writer) int {
	requests := make(chan *request)
	go func() {
		r := bufio.NewReader(in)
		for {
			req, err := readRequest(r)
			if err != nil {
				os.Exit(0)
			}
			requests <- req
			// Returns at the next request, or when who asks is gone.
			if _, err := r.Peek(1); err != nil {
				os.Exit(0)
			}
		}
	}()
	w := bufio.NewWriter(out)
	for req := range requests {
		limitCPU(req.CPU)
		if err := writeFrame(w, answer(req)); err != nil {
			return 1
		}
		if err := w.Flush(); err != nil {
			return 1
		}
		if held() > keptHeap {
			debug.FreeOSMemory()
		}
	}
	return 0
}

// keptHeap is how much memory a worker keeps for its next document.
const keptHeap = 64 << 20

// held is the memory of the heap, in use or not yet given back.
func held() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys - m.HeapReleased
}

type request struct {
	job
	body []byte
}

// answer parses one document. A parser's panic is about the document.
func answer(req *request) (r reply) {
	defer func() {
		if p := recover(); p != nil {
			r = reply{Error: &Error{Reason: TooCostly, Format: req.Format, Why: fmt.Sprintf("the parser failed: %.200v", p)}}
		}
	}()
	page, err := parse(&Document{URL: req.URL, ContentType: req.ContentType, Body: req.body}, req.Format, req.Limits)
	var e *Error
	switch {
	case err == nil:
		return reply{Page: page}
	case errors.As(err, &e):
		return reply{Error: e}
	}
	return reply{Fault: err.Error()}
}

func readRequest(r *bufio.Reader) (*request, error) {
	req := &request{}
	if err := readFrame(r, &req.job, maxHead); err != nil {
		return nil, err
	}
	req.body = make([]byte, req.Size)
	_, err := io.ReadFull(r, req.body)
	return req, err
}

// A frame is its length and JSON.
func writeFrame(w io.Writer, v any) error {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	if err := binary.Write(w, binary.BigEndian, uint32(data.Len())); err != nil {
		return err
	}
	_, err := data.WriteTo(w)
	return err
}

var errFrame = errors.New("the worker's answer is too large")

func readFrame(r io.Reader, v any, most int) error {
	var size uint32
	if err := binary.Read(r, binary.BigEndian, &size); err != nil {
		return err
	}
	if int64(size) > int64(most) {
		return errFrame
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
