// Addresses of the page: /, /run/ID, /run/ID/source/N, /talk/SESSION, /library, /knowledge/COLLECTION, /fleet/KIND/NAME, /settings.

import { useEffect, useState } from 'preact/hooks';

export interface Place {
  path: string[];
  query: URLSearchParams;
}

const here = (): Place => ({ path: location.pathname.split('/').filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(location.search) });
const listeners = new Set<() => void>();

/** go leads to another place of the page. */
export function go(to: string, replace = false) {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  listeners.forEach((l) => l());
}

addEventListener('popstate', () => listeners.forEach((l) => l()));

// Links that lead to places of the page are followed without loading it again.
addEventListener('click', (e) => {
  if (e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  const link = (e.target as Element | null)?.closest?.('a[data-go]') as HTMLAnchorElement | null;
  if (!link || link.origin !== location.origin) return;
  e.preventDefault();
  go(link.pathname + link.search);
  scrollTo(0, 0);
});

export function usePlace(): Place {
  const [place, set] = useState(here);
  useEffect(() => {
    const changed = () => set(here());
    listeners.add(changed);
    return () => void listeners.delete(changed);
  }, []);
  return place;
}

export const talkPath = (session: string) => '/talk/' + encodeURIComponent(session);
export const runPath = (id: string) => '/run/' + encodeURIComponent(id);
