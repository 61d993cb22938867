// Package fonts finds the fonts of this machine by the characters that they
// can show.
package fonts
