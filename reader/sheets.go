package reader

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// readXLSX reads the sheets of a workbook: each is a section, its rows are
// rows.
func (b *builder) readXLSX(body []byte, l limits) error {
	a, err := openArchive(body, XLSX)
	if err != nil {
		return err
	}
	const main = "xl/workbook.xml"
	part, err := a.part(main, XLSX)
	if errors.Is(err, errMissing) {
		return &Error{Reason: Broken, Format: XLSX, Why: "it has no list of sheets"}
	}
	if err != nil {
		return err
	}
	var book struct {
		Sheets []struct {
			Name  string `xml:"name,attr"`
			State string `xml:"state,attr"`
			ID    string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := xml.Unmarshal(part, &book); err != nil {
		return &Error{Reason: Broken, Format: XLSX, Why: "its list of sheets: " + err.Error()}
	}
	if part, err := a.part("docProps/core.xml", XLSX); err == nil {
		b.coreProperties(part)
	}
	s := &sheets{b: b, left: l.Rows}
	if part, err := a.part("xl/sharedStrings.xml", XLSX); err == nil {
		s.readStrings(part)
	}
	if part, err := a.part("xl/styles.xml", XLSX); err == nil {
		s.readStyles(part)
	}
	rels := a.relations(main, XLSX)
	for i, sheet := range book.Sheets {
		if sheet.State != "" && sheet.State != "visible" {
			continue
		}
		part, err := a.part(rels[sheet.ID], XLSX)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); ok && e.Reason == TooLarge {
				return err
			}
			b.warn("a sheet could not be read: " + sheet.Name)
			continue
		}
		b.at = i + 1
		rows := s.rows(part)
		if len(rows) == 0 {
			continue
		}
		b.heading(1, sheet.Name)
		b.table(headed(rows))
		if s.left <= 0 {
			b.warn(fmt.Sprintf("only the first %d rows are shown", l.Rows))
			return nil
		}
	}
	return nil
}

type sheets struct {
	b       *builder
	strings []string
	dates   []bool // for each style of a cell: it shows a date
	left    int    // rows that are still read
}

func (s *sheets) readStrings(part []byte) {
	x := xml.NewDecoder(bytes.NewReader(part))
	x.Strict = false
	var text strings.Builder
	for {
		t, err := x.Token()
		if err != nil {
			return
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				text.Reset()
			case "rPh": // how it is pronounced
				if x.Skip() != nil {
					return
				}
			case "t":
				part, err := charData(x)
				text.WriteString(part)
				if err != nil {
					return
				}
			}
		case xml.EndElement:
			if t.Name.Local == "si" {
				s.strings = append(s.strings, text.String())
			}
		}
	}
}

func (s *sheets) readStyles(part []byte) {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if xml.Unmarshal(part, &styles) != nil {
		return
	}
	own := map[int]bool{}
	for _, f := range styles.Formats {
		code, _, _ := strings.Cut(strings.ToLower(f.Code), ";")
		own[f.ID] = strings.Contains(code, "yy") || strings.Contains(code, "dd") || strings.Contains(code, "mmm")
	}
	for _, c := range styles.Cells {
		s.dates = append(s.dates, c.Format >= 14 && c.Format <= 17 || c.Format == 22 || own[c.Format])
	}
}

// rows reads the cells of a sheet.
func (s *sheets) rows(part []byte) [][]string {
	x := xml.NewDecoder(bytes.NewReader(part))
	x.Strict = false
	var rows [][]string
	var row []string
	kind, style := "", 0
	column := 0
	var text string
	for s.left > 0 {
		t, err := x.Token()
		if err != nil {
			return rows
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "row":
				row, column = nil, 0
			case "c":
				kind, text = value(t, "t"), ""
				style, _ = strconv.Atoi(value(t, "s"))
				if at := columnIndex(value(t, "r")); at >= 0 {
					column = at
				}
			case "v", "t":
				part, err := charData(x)
				if err != nil {
					return rows
				}
				text += part
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "c":
				if v := s.value(kind, style, text); v != "" && column < 500 {
					for len(row) < column {
						row = append(row, "")
					}
					row = append(row, v)
				}
				column++
			case "row":
				if len(row) > 0 {
					rows = append(rows, row)
					s.left--
				}
			}
		}
	}
	return rows
}

// value is what a cell shows.
func (s *sheets) value(kind string, style int, text string) string {
	text = strings.TrimSpace(text)
	switch kind {
	case "s":
		if i, err := strconv.Atoi(text); err == nil && i >= 0 && i < len(s.strings) {
			return s.strings[i]
		}
		return ""
	case "b":
		if text == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "", "n":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text
		}
		if style >= 0 && style < len(s.dates) && s.dates[style] && n > 0 && n < 200_000 {
			day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(n))
			if seconds := math.Round((n - math.Floor(n)) * 86400); seconds > 0 {
				return day.Add(time.Duration(seconds) * time.Second).Format("2006-01-02 15:04")
			}
			return day.Format("2006-01-02")
		}
		if short := strconv.FormatFloat(n, 'g', 12, 64); !strings.Contains(short, "e") {
			return short
		}
	}
	return text
}

// columnIndex is the number of the column in a name of a cell like AB12.
func columnIndex(ref string) int {
	n := 0
	for i := 0; i < len(ref) && i < 4; i++ {
		if ref[i] < 'A' || ref[i] > 'Z' {
			break
		}
		n = n*26 + int(ref[i]-'A') + 1
	}
	return n - 1
}
