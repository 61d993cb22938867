// Runs that there are: to find one again.

import { useState } from 'preact/hooks';
import { api } from './api';
import { t, word, type Key } from './i18n';
import { modes, RunList } from './runs';
import { Icon, Spinner, Trouble, useLoaded } from './ui';

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
