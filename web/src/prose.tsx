// Text of models and pages.

import { useEffect, useRef } from 'preact/hooks';
import type { Citation } from './events';
import { fragment } from './markdown';

/** Markdown shows text of models and pages; onCite hears of a citation that is chosen. */
export function Markdown({ text, citations, onCite, onShown, class: more }: {
  text: string; citations?: Citation[]; onCite?: (button: HTMLElement) => void; onShown?: (root: HTMLElement) => void; class?: string;
}) {
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    root.current!.replaceChildren(fragment(text, citations));
    onShown?.(root.current!);
  }, [text, citations]);
  const chosen = (e: MouseEvent) => {
    const b = (e.target as Element).closest('button.cite');
    if (b && onCite) onCite(b as HTMLElement);
  };
  return <div class={'prose ' + (more ?? '')} ref={root} onClick={chosen} />;
}
