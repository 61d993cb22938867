// Markdown of models and pages as elements that do nothing: no script, no style,
// no image, no form, no address but those of the web. HTML in it is shown as what
// was written, and an image as its words; what is left is sanitised.

import DOMPurify from 'dompurify';
import { Lexer, Parser, Renderer, type Tokens } from 'marked';
import type { Citation } from './events';

const escaped = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

class Plain extends Renderer {
  html(token: Tokens.HTML | Tokens.Tag) {
    return token.type === 'html' && token.block ? `<p>${escaped(token.text)}</p>` : escaped(token.text);
  }

  image({ text }: Tokens.Image) {
    return escaped(text);
  }
}

const html = (markdown: string) => {
  const options = { gfm: true, renderer: new Plain() };
  return Parser.parse(Lexer.lex(markdown, options), options);
};

const allowed = {
  ALLOWED_TAGS: ['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code', 'em', 'strong', 'del', 's', 'sub', 'sup', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'a'],
  ALLOWED_ATTR: ['href', 'title', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^https?:\/\//i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

// Marks of citations travel through Markdown as characters that it leaves alone.
const first = '\uE000', last = '\uE001';

/** fragment is Markdown as elements, with a button for each citation. */
export function fragment(markdown: string, citations: Citation[] = []): DocumentFragment {
  const { text, marks } = marking(markdown.replace(/[\uE000\uE001]/g, ''), citations);
  const clean = DOMPurify.sanitize(html(text), allowed) as unknown as DocumentFragment;
  for (const link of clean.querySelectorAll('a')) {
    link.setAttribute('rel', 'noopener noreferrer nofollow');
    link.setAttribute('target', '_blank');
  }
  for (const table of clean.querySelectorAll('table')) {
    const box = document.createElement('div');
    box.className = 'wide';
    box.tabIndex = 0;
    table.replaceWith(box);
    box.append(table);
  }
  place(clean, marks);
  return clean;
}

/** paragraphs is up to where a text that grows consists of paragraphs which stay as they
 *  are, given that it did up to from: the last empty line outside of code. */
export function paragraphs(text: string, from: number): number {
  let end = from, fence = '';
  for (const m of text.slice(from).matchAll(/^ {0,3}(`{3,}|~{3,})|\n\n+(?=\S)/gm)) {
    if (m[1]) fence = !fence ? m[1] : m[1].startsWith(fence) ? '' : fence;
    else if (!fence) end = from + m.index + m[0].length;
  }
  return end;
}

export interface Mark {
  numbers: number[];
  citation: number; // index of the first in the list; -1 where there is none
  unsupported?: boolean;
}

// marking puts a character in the place of each mark. Where there is no list of
// citations, [n] in the text is a mark.
function marking(markdown: string, citations: Citation[]): { text: string; marks: Mark[] } {
  const marks: Mark[] = [];
  if (!citations.length) {
    const text = markdown.replace(/ ?\[(\d{1,3}(?:\s*,\s*\d{1,3})*|\?)\](?!\()/g, (_, inside: string) => {
      marks.push(inside === '?' ? { numbers: [], citation: -1, unsupported: true } : { numbers: inside.split(',').map((n) => parseInt(n, 10)), citation: -1 });
      return first + (marks.length - 1) + last;
    });
    return { text, marks };
  }
  const points = Array.from(markdown); // positions are in characters, not in halves of them
  const at = new Map<number, Mark & { end: number }>();
  citations.forEach((c, i) => {
    const known = at.get(c.start);
    if (known) known.numbers.push(c.number);
    else at.set(c.start, { numbers: [c.number], citation: i, end: c.end });
  });
  let text = '';
  for (let i = 0; i < points.length; ) {
    const mark = at.get(i);
    if (mark && mark.end > i) {
      text = text.replace(/ $/, '') + first + marks.length + last;
      marks.push(mark);
      i = mark.end;
    } else text += points[i++];
  }
  return {
    text: text.replace(/ ?\[\?\]/g, () => {
      marks.push({ numbers: [], citation: -1, unsupported: true });
      return first + (marks.length - 1) + last;
    }), marks,
  };
}

function place(root: DocumentFragment, marks: Mark[]) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  for (const node of nodes) {
    if (!node.data.includes(first)) continue;
    const parts = node.data.split(new RegExp(`${first}(\\d+)${last}`));
    const made = document.createDocumentFragment();
    parts.forEach((part, i) => {
      if (i % 2 === 0) return made.append(parts[i]);
      const mark = marks[Number(part)];
      if (!mark) return;
      // The word before a mark and what closes the sentence stay on its line.
      const [close] = /^[.,;:!?)»”。，；：！？、）]*/.exec(parts[i + 1])!;
      parts[i + 1] = parts[i + 1].slice(close.length);
      const held = document.createElement('span');
      held.className = 'held';
      const before = made.lastChild;
      const word = before instanceof Text ? /(?:[^\s\p{Script=Han}]{1,20}|\p{Script=Han})$/u.exec(before.data)?.[0] : '';
      if (word) {
        (before as Text).deleteData((before as Text).length - word.length, word.length);
        held.append(word);
      }
      made.append(held);
      if (mark.unsupported) {
        const q = document.createElement('span');
        q.className = 'unsupported';
        q.textContent = '?';
        held.append(q, close);
        return;
      }
      for (const [k, n] of mark.numbers.entries()) {
        const b = document.createElement('button');
        b.type = 'button';
        b.className = 'cite';
        b.dataset.number = String(n);
        if (mark.citation >= 0) b.dataset.citation = String(mark.citation + k);
        b.textContent = String(n);
        held.append(b);
      }
      held.append(close);
    });
    node.replaceWith(made);
  }
}

/** oneLine is text of others on one line, for titles. */
export const oneLine = (s: string) => s.replace(/\s+/g, ' ').trim();
