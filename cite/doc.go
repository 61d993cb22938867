// Package cite keeps answers honest about their sources.
//
// A [Ledger] numbers the sources of a run. A [Snapshot] is the text that was
// read from one, named by its hash, and a [Passage] is a span of bytes in it.
// A model cites by number and never writes an address: [Sanitize] takes out
// whatever it wrote all the same, [Split] cuts the answer into claims with
// their numbers and quotations, and [Verify] checks each claim against what
// was really read: every quotation must stand in a snapshot ([Snapshot.Find]),
// and a passage must bear the claim out (a [Checker]; [Lexical] needs no
// model). What fails is marked or dropped, and the share that holds is the
// coverage of the answer.
package cite
