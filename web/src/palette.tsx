// The palette (Ctrl or ⌘ with K) goes anywhere; ? shows the keys.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type RunRecord } from './api';
import { t, type Key } from './i18n';
import { go, runPath } from './router';
import { Pill } from './ui';

/** screens are the first parts of their addresses, and what they are called. */
export const screens: [string, Key][] = [['', 'nav.ask'], ['talk', 'nav.talk'], ['library', 'nav.library'], ['knowledge', 'nav.knowledge'], ['fleet', 'nav.agents'], ['settings', 'nav.settings']];

const typing = (e: KeyboardEvent) => (e.target as Element | null)?.closest?.('input, textarea, select, [contenteditable]');

/** Keys listens to the keyboard, wherever one is on the page. */
export function Keys() {
  const [shown, show] = useState<'' | 'palette' | 'keys'>('');
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && (e.code === 'KeyK' || e.key.toLowerCase() === 'k')) {
        e.preventDefault();
        show((was) => (was === 'palette' ? '' : 'palette'));
      } else if (!typing(e) && !e.ctrlKey && !e.metaKey && !e.altKey) {
        if (e.key === '?') show('keys');
        else if (e.key === '/') {
          const box = document.querySelector<HTMLElement>('main input[type=search], main textarea, main input:not([type=radio], [type=checkbox])');
          if (box) (e.preventDefault(), box.focus());
        } else if (e.code === 'KeyN' || e.key === 'n') go('/');
      }
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  if (shown === 'palette') return <Palette close={() => show('')} />;
  return shown === 'keys' ? <Help close={() => show('')} /> : null;
}

function useDialog(close: () => void) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const d = dialog.current!;
    d.showModal();
    d.addEventListener('close', close);
    return () => d.removeEventListener('close', close);
  }, []);
  return dialog;
}

function Palette({ close }: { close: () => void }) {
  const dialog = useDialog(close);
  const [words, setWords] = useState('');
  const [runs, setRuns] = useState<RunRecord[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    api.runs({ limit: '8', ...(words.trim() ? { q: words.trim() } : {}) }, stop.signal).then((found) => !stop.signal.aborted && setRuns(found), () => undefined);
    return () => stop.abort();
  }, [words.trim()]);
  const items = [
    ...screens.map(([at, key]) => ({ to: '/' + at, label: t(key), status: '' })).filter((p) => p.label.toLowerCase().includes(words.trim().toLowerCase())),
    ...runs.map((r) => ({ to: runPath(r.id), label: r.title, status: r.status as string })),
  ];
  const on = Math.min(at, items.length - 1);
  const choose = (to: string) => {
    dialog.current?.close();
    go(to);
  };
  return (
    <dialog ref={dialog} class="palette" aria-label={t('palette.title')} onClick={(e) => e.target === dialog.current && dialog.current?.close()}>
      <form method="dialog" onSubmit={(e) => (e.preventDefault(), items[on] && choose(items[on].to))}>
        <input type="text" role="combobox" aria-expanded="true" aria-controls="choices" aria-activedescendant={items[on] ? 'choice-' + on : undefined} aria-label={t('palette.title')} placeholder={t('palette.title')} value={words}
          onInput={(e) => (setWords(e.currentTarget.value), setAt(0))}
          onKeyDown={(e) => {
            const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
            if (!step || !items.length) return;
            e.preventDefault();
            setAt((on + step + items.length) % items.length);
          }} />
        <ul id="choices" role="listbox" aria-label={t('palette.title')}>
          {items.map((x, i) => <li id={'choice-' + i} role="option" aria-selected={i === on} onClick={() => choose(x.to)}><span>{x.label}</span>{x.status && <Pill status={x.status} />}</li>)}
        </ul>
        {!items.length && <p class="hint" role="status">{t('library.none')}</p>}
      </form>
    </dialog>
  );
}

function Help({ close }: { close: () => void }) {
  const dialog = useDialog(close);
  const keys: [string, Key][] = [['Ctrl / ⌘ K', 'keys.palette'], ['/', 'keys.field'], ['n', 'keys.new'], ['Esc', 'keys.close'], ['?', 'keys.help']];
  return (
    <dialog ref={dialog} class="palette keys" aria-labelledby="keys" onClick={(e) => e.target === dialog.current && dialog.current?.close()}>
      <h2 id="keys">{t('keys.title')}</h2>
      <dl>{keys.map(([key, what]) => <div><dt><kbd>{key}</kbd></dt><dd>{t(what)}</dd></div>)}</dl>
    </dialog>
  );
}
