package toolkit

import (
	"errors"
	"fmt"
	"strings"
)

// splitCommand cuts a command into words. Quotes and backslashes mean what they
// mean to a shell. Nothing else does, and what would is refused where it is not
// quoted, so that nobody waits for a pipe that is none.
func splitCommand(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
			word.Reset()
			begun = false
		}
	}
	var quote byte
	text := strings.TrimSpace(command)
	for i := 0; i < len(text); i++ {
		c := text[i]
		escapes := c == '\\' && i+1 < len(text) && (quote == 0 || quote == '"' && strings.IndexByte("\"\\$`", text[i+1]) >= 0)
		switch {
		case c == 0:
			return nil, errors.New("the command has a zero byte in it")
		case escapes && text[i+1] == '\n', escapes && text[i+1] == 0:
			return nil, errors.New("the command has several lines. Run one program with its arguments")
		case escapes:
			i++
			word.WriteByte(text[i])
			begun = true
		case c == '\\' && quote == 0:
			return nil, errors.New("the command ends with a backslash")
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			end()
		case c == '\n' || c == '\r':
			return nil, errors.New("the command has several lines. Run one program with its arguments")
		case strings.IndexByte("|&;<>`", c) >= 0, c == '$' && i+1 < len(text) && (text[i+1] == '(' || text[i+1] == '{'):
			return nil, fmt.Errorf("there is no shell: %q is not understood. Run one program with its arguments, and put quotes around it if it is part of an argument", c)
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	end()
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the command is empty: write a program and its arguments")
	}
	return words, nil
}
