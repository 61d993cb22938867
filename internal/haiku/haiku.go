// Package haiku is about poems of 5, 7 and 5 syllables.
package haiku
