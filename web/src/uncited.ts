// Sentences of a report that no citation stands behind.

const blocks = 'p, li, td';

export interface Sentence {
  range: Range;
  cited: boolean;
}

/** sentencesIn are those below an element, with whether a citation stands behind them. */
export function sentencesIn(root: HTMLElement): Sentence[] {
  const found: Sentence[] = [];
  for (const block of root.querySelectorAll<HTMLElement>(blocks)) {
    if (block.querySelector(blocks) || block.closest('blockquote, table')) continue;
    found.push(...inBlock(block));
  }
  return found;
}

function inBlock(block: HTMLElement): Sentence[] {
  const texts: { node: Text; at: number }[] = [];
  const cites: number[] = [];
  let all = '';
  const walk = (node: Node) => {
    if (node instanceof Text) {
      texts.push({ node, at: all.length });
      all += node.data;
    } else if (node instanceof HTMLElement && (node.classList.contains('cite') || node.classList.contains('unsupported'))) {
      if (node.classList.contains('cite')) cites.push(all.length);
    } else node.childNodes.forEach(walk);
  };
  walk(block);
  const out: Sentence[] = [];
  for (const s of sentences(all)) {
    const bare = all.slice(s.start, s.end).trim();
    if (bare.length < 8 || !/\p{L}/u.test(bare)) continue;
    // A mark belongs to the sentence before it, whether it stands before the full stop or behind.
    const cited = cites.some((c) => c > s.start && c <= s.end);
    const range = document.createRange();
    if (point(texts, s.start, (n, o) => range.setStart(n, o)) && point(texts, s.end, (n, o) => range.setEnd(n, o))) out.push({ range, cited });
  }
  return out;
}

function sentences(text: string): { start: number; end: number }[] {
  if (!('Segmenter' in Intl)) return [{ start: 0, end: text.length }];
  return [...new Intl.Segmenter(document.documentElement.lang, { granularity: 'sentence' }).segment(text)].map((s) => ({ start: s.index, end: s.index + s.segment.trimEnd().length }));
}

function point(texts: { node: Text; at: number }[], offset: number, set: (n: Text, o: number) => void): boolean {
  for (const { node, at } of texts) {
    if (offset >= at && offset <= at + node.length) {
      set(node, offset - at);
      return true;
    }
  }
  return false;
}

/** highlight paints ranges, and nothing else any more. */
export function highlight(ranges: Range[]) {
  const registry = (CSS as any).highlights as Map<string, unknown> | undefined;
  if (!registry) return;
  if (ranges.length) registry.set('uncited', new (globalThis as any).Highlight(...ranges));
  else registry.delete('uncited');
}
