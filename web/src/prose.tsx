// Text of models and pages.

import { useEffect, useRef } from 'preact/hooks';
import type { Citation } from './events';
import { fragment, paragraphs } from './markdown';

/** Markdown shows text of models and pages; onCite hears of a citation that is chosen.
 *  Of a text that grows, only what may still change is made anew. */
export function Markdown({ text, citations, onCite, onShown, class: more }: {
  text: string; citations?: Citation[]; onCite?: (button: HTMLElement) => void; onShown?: (root: HTMLElement) => void; class?: string;
}) {
  const root = useRef<HTMLDivElement>(null);
  const shown = useRef({ text: '', whole: 0, nodes: 0 }); // whole: up to there, it and so many nodes stay
  useEffect(() => {
    const box = root.current!, was = shown.current;
    if (citations || !was.text || !text.startsWith(was.text)) {
      box.replaceChildren(fragment(text, citations));
      shown.current = { text, whole: 0, nodes: 0 };
    } else if (text !== was.text) {
      while (box.childNodes.length > was.nodes) box.lastChild!.remove();
      const whole = paragraphs(text, was.whole);
      box.append(fragment(text.slice(was.whole, whole)));
      shown.current = { text, whole, nodes: box.childNodes.length };
      box.append(fragment(text.slice(whole)));
    }
    onShown?.(box);
  }, [text, citations]);
  const chosen = (e: MouseEvent) => {
    const b = (e.target as Element).closest('button.cite');
    if (b && onCite) onCite(b as HTMLElement);
  };
  return <div class={'prose ' + (more ?? '')} ref={root} onClick={chosen} />;
}
