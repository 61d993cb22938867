// Package usage has the error of a request or a setting that can't be carried
// out as it is, whoever finds that out.
package usage

// Error says what is wrong, and in Hint what to do about it.
type Error struct {
	Message, Hint string
	Err           error // what it is about; nil for most
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }
