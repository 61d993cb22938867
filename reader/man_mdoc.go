package reader

import "strings"

// mdoc reads a macro of mdoc at the start of a line.
func (m *manReader) mdoc(name string, args []string) {
	switch name {
	case "Nd":
		m.text("- " + m.inline(args))
	case "Nm":
		if m.name == "" && len(args) > 0 {
			m.name = args[0]
		}
		m.text(m.inline(append([]string{"Nm"}, args...)))
	case "Bl":
		m.flush()
		list := manList{kind: Term, number: -1}
		if len(args) > 0 {
			switch args[0] {
			case "-bullet", "-dash", "-hyphen", "-item":
				list.kind = Item
			case "-enum":
				list.kind, list.number = Item, 0
			}
		}
		m.lists = append(m.lists, list)
	case "El":
		m.flush()
		if n := len(m.lists); n > 0 {
			m.lists = m.lists[:n-1]
		}
		m.kind, m.level = Paragraph, 0
		if n := len(m.lists); n > 0 {
			m.kind, m.level = Item, n
			if m.lists[n-1].kind == Term {
				m.kind = Definition
			}
		}
	case "It":
		if n := len(args); n > 0 && args[n-1] == "Xo" {
			m.long = args[:n-1]
			return
		}
		m.flush()
		n := len(m.lists)
		if n == 0 {
			return
		}
		m.level = n
		if m.lists[n-1].kind == Item {
			m.kind = Item
			if m.lists[n-1].number >= 0 {
				m.lists[n-1].number++
			}
			if len(args) > 0 {
				m.text(m.inline(args))
			}
			return
		}
		if s := strings.Join(strings.Fields(unescape(m.inline(args))), " "); s != "" {
			m.b.add(Term, n, s, escapeMarkdown(s))
		}
		m.kind = Definition
	case "Bd":
		m.flush()
		if len(args) > 0 && (args[0] == "-literal" || args[0] == "-unfilled") {
			m.code++
		}
	case "Ed":
		m.flush()
		m.code = 0
	case "Dl", "D1":
		m.flush()
		m.b.code(unescape(m.inline(args)))
	default:
		if mdocMacros[name] != "" {
			m.text(m.inline(append([]string{name}, args...)))
		}
	}
}

// mdocMacros are the macros inside lines and what they put around the rest of
// the line, two marks with a blank between; "." is nothing.
var mdocMacros = func() map[string]string {
	macros := map[string]string{
		"Op": "[ ]", "Oo": "[ .", "Oc": ". ]", "Sq": "‘ ’", "Dq": "“ ”", "Ql": "‘ ’", "Qq": "\" \"", "Pq": "( )", "Po": "( .", "Pc": ". )", "Aq": "< >", "Bq": "[ ]", "Brq": "{ }",
	}
	for name := range strings.FieldsSeq("Fl Ar Cm Ic Pa Va Vt Li Em Sy Dv Ev Er Fn Fa Ft Xr Nm No Ns Ad An Cd Lk Mt Sx Tn Ux Bx Fx Nx Ox St At In Fd Ms Me") {
		macros[name] = "."
	}
	return macros
}()

// inline writes the words of a line with the macros among them.
func (m *manReader) inline(args []string) string {
	var out strings.Builder
	closing := ""
	end := len(args) // marks at the end of a line stand outside of brackets
	for end > 0 && len(args[end-1]) == 1 && strings.ContainsAny(args[end-1], ".,:;?!)") {
		end--
	}
	args, after := args[:end], args[end:]
	space, flag := false, false
	write := func(s string) {
		if space && out.Len() > 0 && !strings.HasSuffix(out.String(), "[") && !strings.HasSuffix(out.String(), "(") && (len(s) > 1 || !strings.ContainsAny(s, ".,:;)]?!")) {
			out.WriteByte(' ')
		}
		out.WriteString(s)
		space = true
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		around, macro := mdocMacros[a]
		if !macro {
			if flag && (len(a) > 1 || !strings.ContainsAny(a, ".,:;)]|")) {
				a = "-" + a
			}
			flag = flag && len(a) == 1
			write(a)
			continue
		}
		flag = false
		switch a {
		case "Ns":
			space = false
			continue
		case "Fl":
			flag = true
			if i+1 == len(args) {
				write("-")
			}
		case "Ar":
			if i+1 == len(args) {
				write("file ...")
			}
		case "Nm":
			if i+1 == len(args) || mdocMacros[args[i+1]] != "" {
				write(m.name)
			}
		case "Xr":
			if i+1 < len(args) {
				s := args[i+1]
				i++
				if i+1 < len(args) && len(args[i+1]) > 0 && args[i+1][0] >= '0' && args[i+1][0] <= '9' {
					s += "(" + args[i+1] + ")"
					i++
				}
				write(s)
			}
		}
		if before, shut, ok := strings.Cut(around, " "); ok {
			if before != "." {
				write(before)
				space = false
			}
			if before == "." {
				space = false
				write(shut)
			} else if shut != "." {
				closing = shut + closing
			}
		}
	}
	return out.String() + closing + strings.Join(after, "")
}

// signs are the characters that an escape names.
var signs = map[string]string{"em": "—", "en": "–", "hy": "-", "mi": "-", "bu": "•", "aq": "'", "dq": "\"", "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "co": "©", "rg": "®", "tm": "™",
	"rs": "\\", "ti": "~", "ha": "^", "ga": "`", "la": "<", "ra": ">", "<=": "≤", ">=": "≥", "!=": "≠", "+-": "±", "mu": "×", "->": "→", "<-": "←", "de": "°", "sc": "§", "at": "@", "sh": "#", "Do": "$",
	"lB": "[", "rB": "]", "lC": "{", "rC": "}", "pl": "+", "eq": "=", "or": "|", "sl": "/", "ul": "_", "Fo": "«", "Fc": "»", "ss": "ß", ":a": "ä", ":o": "ö", ":u": "ü", "'e": "é", "`e": "è", "eu": "€", "Po": "£"}

// unescape writes text without the escapes of the formatter.
func unescape(s string) string {
	if !strings.Contains(s, "\\") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case '-', '.', '\'', '`', '_':
			out.WriteByte(c)
		case 'e', '\\', 'E':
			out.WriteByte('\\')
		case ' ', '~', '0':
			out.WriteByte(' ')
		case '(':
			out.WriteString(signs[s[min(i+1, len(s)):min(i+3, len(s))]])
			i += 2
		case '[':
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				return out.String()
			}
			out.WriteString(namedSign(s[i+1 : i+end]))
			i += end
		case 'f', 'm', 'M', 'F', 'n', '*', 's', 'g', 'k', 'V', 'Y':
			i = skipName(s, i, c, &out)
		case 'h', 'v', 'w', 'N', 'X', 'D', 'l', 'L', 'o', 'b', 'x', 'R', 'S', 'H', 'Z', 'A', 'B':
			if i+1 < len(s) {
				if end := strings.IndexByte(s[i+2:min(len(s), i+200)], s[i+1]); end >= 0 {
					i += 2 + end
				}
			}
		case 'c':
			out.WriteByte(0)
		}
	}
	got := out.String()
	if strings.IndexByte(got, 0) >= 0 {
		ends := strings.HasSuffix(got, "\x00")
		if got = strings.ReplaceAll(got, "\x00", ""); ends {
			got += "\x00"
		}
	}
	return got
}

func namedSign(name string) string {
	if s, ok := signs[name]; ok {
		return s
	}
	if hex, ok := strings.CutPrefix(name, "u"); ok && len(hex) >= 4 && len(hex) <= 6 {
		r := rune(0)
		for _, c := range hex {
			d := strings.IndexRune("0123456789ABCDEF", c)
			if d < 0 {
				return ""
			}
			r = r<<4 | rune(d)
		}
		return string(r)
	}
	return ""
}

// skipName passes over the name of a font, a register or a string after an
// escape, and returns where it ends.
func skipName(s string, i int, c byte, out *strings.Builder) int {
	j := i + 1
	if c == 's' && j < len(s) && (s[j] == '+' || s[j] == '-') {
		j++
	}
	if j >= len(s) {
		return i
	}
	var name string
	switch s[j] {
	case '(':
		name = s[min(j+1, len(s)):min(j+3, len(s))]
		j += 2
	case '[':
		end := strings.IndexByte(s[j:], ']')
		if end < 0 {
			return len(s)
		}
		name = s[j+1 : j+end]
		j += end
	default:
		name = s[j : j+1]
	}
	if c == '*' { // a string; those for quotes are common
		switch name {
		case "lq":
			out.WriteString("“")
		case "rq":
			out.WriteString("”")
		case "Aq", "aq":
			out.WriteString("'")
		}
	}
	return min(j, len(s))
}
