package otlp

import (
	"encoding/binary"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"dossier/internal/base/trace"
)

// message is one of protocol buffers as it is written. The numbers of fields are
// those of opentelemetry/proto/trace/v1/trace.proto, common.proto and resource.proto
// in version 1.
type message []byte

// The ways in which a field is written.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

func (m *message) tag(field, wire int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(wire))
}

func (m *message) number(field int, v uint64) {
	if v != 0 {
		m.tag(field, wireVarint)
		*m = binary.AppendUvarint(*m, v)
	}
}

func (m *message) bytes(field int, v []byte) {
	if len(v) > 0 {
		m.text(field, string(v))
	}
}

func (m *message) text(field int, v string) {
	m.tag(field, wireBytes)
	*m = append(binary.AppendUvarint(*m, uint64(len(v))), v...)
}

func (m *message) nested(field int, v message) { m.text(field, string(v)) }

func (m *message) moment(field int, v time.Time) {
	m.tag(field, wireFixed64)
	*m = binary.LittleEndian.AppendUint64(*m, uint64(v.UnixNano()))
}

// encode writes spans as an ExportTraceServiceRequest. They are of one resource and
// one scope, ours.
func encode(spans []sdk.ReadOnlySpan) []byte {
	var scope, named, of, all, request message
	first := spans[0]
	named.text(1, first.InstrumentationScope().Name)
	named.text(2, first.InstrumentationScope().Version)
	scope.nested(1, named)
	for _, s := range spans {
		scope.nested(2, encodeSpan(s))
	}
	scope.text(3, trace.Schema)
	of.attributes(1, first.Resource().Attributes())
	all.nested(1, of)
	all.nested(2, scope)
	all.text(3, trace.Schema)
	request.nested(1, all)
	return request
}

// kindNumbers are those of Span.SpanKind.
var kindNumbers = map[api.SpanKind]uint64{api.SpanKindInternal: 1, api.SpanKindServer: 2, api.SpanKindClient: 3}

// statusError is STATUS_CODE_ERROR.
const statusError = 2

func encodeSpan(s sdk.ReadOnlySpan) (m message) {
	at := s.SpanContext()
	id, span := at.TraceID(), at.SpanID()
	m.bytes(1, id[:])
	m.bytes(2, span[:])
	if state := at.TraceState().String(); state != "" {
		m.text(3, state)
	}
	if parent := s.Parent(); parent.SpanID().IsValid() {
		above := parent.SpanID()
		m.bytes(4, above[:])
	}
	m.text(5, s.Name())
	m.number(6, kindNumbers[s.SpanKind()])
	m.moment(7, s.StartTime())
	m.moment(8, s.EndTime())
	m.attributes(9, s.Attributes())
	m.number(10, uint64(s.DroppedAttributes()))
	for _, e := range s.Events() {
		var event message
		event.moment(1, e.Time)
		event.text(2, e.Name)
		event.attributes(3, e.Attributes)
		m.nested(11, event)
	}
	m.number(12, uint64(s.DroppedEvents()))
	if s.Status().Code == codes.Error {
		var status message
		status.number(3, statusError)
		m.nested(15, status)
	}
	m.tag(16, wireFixed32)
	m = binary.LittleEndian.AppendUint32(m, uint32(at.TraceFlags()))
	return m
}

func (m *message) attributes(field int, list []attribute.KeyValue) {
	for _, a := range list {
		var pair message
		pair.text(1, string(a.Key))
		pair.nested(2, encodeValue(a.Value))
		m.nested(field, pair)
	}
}

// encodeValue writes an AnyValue of the types that attributes have.
func encodeValue(v attribute.Value) (m message) {
	switch v.Type() {
	case attribute.BOOL:
		m.tag(2, wireVarint)
		m = append(m, 0)
		if v.AsBool() {
			m[len(m)-1] = 1
		}
	case attribute.INT64:
		m.tag(3, wireVarint)
		m = binary.AppendUvarint(m, uint64(v.AsInt64()))
	case attribute.FLOAT64:
		m.tag(4, wireFixed64)
		m = binary.LittleEndian.AppendUint64(m, math.Float64bits(v.AsFloat64()))
	case attribute.STRINGSLICE:
		var list message
		for _, s := range v.AsStringSlice() {
			list.nested(1, encodeValue(attribute.StringValue(s)))
		}
		m.nested(5, list)
	default:
		m.text(1, v.String())
	}
	return m
}
