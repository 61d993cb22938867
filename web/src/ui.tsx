// Small things that every screen is made of.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refused } from './api';
import { t, word } from './i18n';

// Icons are drawn with one stroke, 20 × 20.
const paths = {
  send: 'M4 10h11M10.5 5l5 5-5 5',
  pause: 'M7.5 5v10M12.5 5v10',
  play: 'M7 5l8 5-8 5z',
  stop: 'M6 6h8v8H6z',
  flag: 'M6 17V4h8l-1.5 3L14 10H6',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  close: 'M5.5 5.5l9 9M14.5 5.5l-9 9',
  plus: 'M10 4.5v11M4.5 10h11',
  search: 'M9 14.5a5.5 5.5 0 100-11 5.5 5.5 0 000 11zM13 13l3.5 3.5',
  down: 'M10 4v9M6 9.5l4 4 4-4M4.5 16.5h11',
  out: 'M8 5H5v10h10v-3M11 5h4v4M15 5l-6.5 6.5',
  back: 'M12 4.5L6.5 10l5.5 5.5',
  sliders: 'M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4',
  warn: 'M10 4l7 12H3zM10 8.5v3.5M10 14h.01',
  pen: 'M4 16l1-4 8.5-8.5 3 3L8 15zM12 5l3 3',
  tag: 'M4 4h6l6.5 6.5-6 6L4 10zM7 7h.01',
  again: 'M16 10a6 6 0 11-2-4.5M14.5 2.5v3.5H11',
  branch: 'M6 4v12M6 10c6 0 8-1 8-5M6 16h.01M14 4h.01',
  trash: 'M4.5 6h11M8 6V4h4v2M6 6l.7 10h6.6L14 6',
};

export type IconName = keyof typeof paths;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d={paths[name]} /></svg>
);

interface ButtonProps extends Omit<JSX.IntrinsicElements['button'], 'icon'> {
  icon?: IconName;
  tone?: 'main' | 'quiet' | 'danger';
  small?: boolean;
  children?: ComponentChildren;
}

export const Button = ({ icon, tone, small, children, class: more, ...rest }: ButtonProps) => (
  <button type="button" title={children === undefined ? (rest['aria-label'] as string) : undefined} {...rest} class={['button', tone, small && 'small', more].filter(Boolean).join(' ')}>
    {icon && <Icon name={icon} />}
    {children !== undefined && <span>{children}</span>}
  </button>
);

export const Pill = ({ status }: { status: string }) => <span class={'pill ' + status}>{word('status', status)}</span>;

export const Spinner = ({ label }: { label?: string }) => (
  <p class="spinner" role="status"><i aria-hidden="true" />{label ?? t('state.loading')}</p>
);

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty"><strong>{title}</strong>{children && <p>{children}</p>}</div>
);

/** typed gives what is typed or chosen to set. */
export const typed = <T extends string>(set: (text: T) => void) => (e: { currentTarget: { value: string } }) => set(e.currentTarget.value as T);

export const Field = ({ label, children }: { label: string; children: ComponentChildren }) => <label class="field"><span>{label}</span>{children}</label>;

export const Find = ({ label, value, change }: { label: string; value?: string; change: (words: string) => void }) => (
  <label class="find"><Icon name="search" /><span class="hidden">{label}</span><input type="search" value={value} placeholder={label} onInput={typed(change)} /></label>
);

/** Trouble says what went wrong, if something did, and what to do about it. */
export function Trouble({ error, again }: { error: unknown; again?: () => void }) {
  if (!error) return null;
  const problem = error instanceof Refused ? error.problem : { code: 'failed', message: String((error as Error)?.message ?? error), hint: undefined };
  const gone = problem.code === 'unreachable';
  return (
    <div class="notice bad" role="alert">
      <Icon name="warn" />
      <div>
        <p>{gone ? t('trouble.unreachable') : problem.message}</p>
        {gone ? <p class="hint">{t('trouble.unreachable.hint')}</p> : problem.hint && <p class="hint">{problem.hint}</p>}
        {again && <Button small onClick={again}>{t('action.again')}</Button>}
      </div>
    </div>
  );
}

/** Lost says that the server went away; whoever shows it tries again by itself. */
export const Lost = () => <Trouble error={new Refused({ code: 'unreachable', message: '' }, 0)} />;

/** useLoaded loads something, and again when what it depends on changes, or when the
 * server was away. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, on: unknown[]): { value?: T; error?: unknown; again: () => void } {
  const [got, set] = useState<{ value?: T; error?: unknown }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    load(stop.signal).then(
      (value) => !stop.signal.aborted && set({ value }),
      (error) => {
        if (stop.signal.aborted) return;
        set((was) => ({ ...was, error }));
        if (error instanceof Refused && !error.status) timer = window.setTimeout(() => setRound((n) => n + 1), 3000);
      },
    );
    return () => (stop.abort(), clearTimeout(timer));
  }, [...on, round]);
  return { ...got, again: () => setRound((n) => n + 1) };
}

/** useAction does something once at a time and remembers what went wrong. */
export function useAction(): { busy: boolean; error: unknown; act: (what: () => Promise<unknown>) => Promise<boolean> } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const act = async (what: () => Promise<unknown>) => {
    setBusy(true);
    setError(null);
    try {
      await what();
      return true;
    } catch (err) {
      setError(err);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, act };
}

/** focused, as a ref, makes a field that appears ready to be typed in. */
export const focused = (x: HTMLElement | null) => x?.focus();

/** Tile stands for a site: its first letter, in a colour of its own. Nothing is loaded for it. */
export function Tile({ of }: { of: string }) {
  const name = host(of);
  let sum = 0;
  for (const c of name) sum = (sum * 31 + c.codePointAt(0)!) % 360;
  return <span class={'tile h' + Math.floor(sum / 45)} aria-hidden="true">{(Array.from(name)[0] ?? '·').toUpperCase()}</span>;
}

/** host is where an address leads, for people. */
export function host(uri: string): string {
  try {
    const u = new URL(uri);
    if (u.protocol === 'http:' || u.protocol === 'https:') return u.hostname.replace(/^www\./, '');
    return decodeURIComponent(u.pathname.split('/').pop() || uri);
  } catch {
    return uri.split('/').pop() || uri;
  }
}

export const isWeb = (uri: string) => /^https?:\/\//i.test(uri);
