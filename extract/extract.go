// Package extract answers a question with sentences that stand in what was
// found: it chooses the sentences, and it tells whether they answer at all.
package extract
