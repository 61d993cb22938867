// Runs that there are: to find one again.

import { useState } from 'preact/hooks';
import { api, type RunRecord } from './api';
import { ago, clock, t, word, type Key } from './i18n';
import { runPath } from './router';
import { modes } from './ask';
import { Button, Empty, Icon, Pill, Spinner, Trouble, useAction, useLoaded } from './ui';

export function RunList({ runs, empty, removed }: { runs: RunRecord[]; empty: string; removed?: () => void }) {
  const { error, act, busy } = useAction();
  if (!runs.length) return <Empty title={empty} />;
  return (
    <>
      {error ? <Trouble error={error} /> : null}
      <ul class="runs">
        {runs.map((r) => (
          <li key={r.id}>
            <a href={runPath(r.id)} data-go>
              <strong>{r.title}</strong>
              <span class="meta"><Pill status={r.status} /><span>{word('mode', r.mode)}</span><span>{ago(r.created)}</span>{r.active > 0 && <span>{clock(r.active / 1e6)}</span>}</span>
            </a>
            {removed && (
              <Button tone="quiet" icon="trash" small disabled={busy} aria-label={t('library.delete', { title: r.title })}
                onClick={async () => confirm(t('library.delete.sure', { title: r.title })) && (await act(() => api.remove(r.id))) && removed()} />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

export function LibraryScreen() {
  const [words, setWords] = useState('');
  const [status, setStatus] = useState('');
  const [mode, setMode] = useState('');
  const query: Record<string, string> = { limit: '100' };
  if (words.trim()) query.q = words.trim();
  if (status) query.status = status;
  if (mode) query.mode = mode;
  const found = useLoaded((signal) => api.runs(query, signal), [words.trim(), status, mode]);
  return (
    <main class="narrow" id="main">
      <h1>{t('library.title')}</h1>
      <form class="filters" role="search" onSubmit={(e) => e.preventDefault()}>
        <label class="find"><Icon name="search" /><span class="hidden">{t('library.find')}</span>
          <input type="search" value={words} placeholder={t('library.find')} onInput={(e) => setWords(e.currentTarget.value)} />
        </label>
        <label><span class="hidden">{t('library.status')}</span>
          <select value={status} onChange={(e) => setStatus(e.currentTarget.value)}>
            <option value="">{t('library.status.any')}</option>
            {['running', 'waiting', 'paused', 'done', 'failed', 'cancelled'].map((s) => <option value={s}>{word('status', s)}</option>)}
          </select>
        </label>
        <label><span class="hidden">{t('ask.mode')}</span>
          <select value={mode} onChange={(e) => setMode(e.currentTarget.value)}>
            <option value="">{t('library.mode.any')}</option>
            {modes.map((m) => <option value={m}>{t(`mode.${m}` as Key)}</option>)}
          </select>
        </label>
      </form>
      {found.error ? <Trouble error={found.error} again={found.again} /> : null}
      {found.value ? <RunList runs={found.value} empty={words || status || mode ? t('library.none') : t('ask.recent.empty')} removed={found.again} /> : !found.error && <Spinner />}
    </main>
  );
}
