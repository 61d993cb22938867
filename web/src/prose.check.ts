// Checks of text that grows, run by the Go test of this folder with Node.js: what is
// shown of it paragraph by paragraph is what it is as a whole.

import assert from 'node:assert/strict';
import { Marked } from 'marked';
import { paragraphs } from './markdown';

const marked = new Marked({ async: false });
const html = (text: string) => (marked.parse(text) as string).replace(/\s+/g, ' ').trim();

const text = `# Title

First words of a paragraph
that go on. [1]

- one
- two
  and more

> A quotation.
>
> Its second part.

\`\`\`go
if a {

	b()

}
\`\`\`

| a | b |
| --- | --- |
| 1 | 2 |

~~~
code \`\`\`

not the end
~~~~

Русский абзац.


中文段落。

    indented

	code

The end.`;

let whole = 0, shown = '', moves = 0;
for (let n = 1; n <= text.length; n++) {
  const grown = text.slice(0, n);
  const to = paragraphs(grown, whole);
  assert.ok(to >= whole && to <= n, `${to} after ${whole} of ${n}`);
  if (to > whole) {
    shown += ' ' + html(text.slice(whole, to));
    whole = to;
    moves++;
  }
  assert.equal((shown + ' ' + html(grown.slice(whole))).trim(), html(grown), `at ${n}: ${JSON.stringify(grown.slice(-20))}`);
}
assert.equal(moves, 9);
console.log('checks', text.length);
