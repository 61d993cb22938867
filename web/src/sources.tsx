// Sources as they are found and read.

import { useMemo, useState } from 'preact/hooks';
import type { Source, State } from './fold';
import { count, format, t, type Key } from './i18n';
import { Button, Empty, Tile, host, isWeb } from './ui';

const filters = ['all', 'read', 'found', 'failed'] as const;

export function Sources({ run, state }: { run: string; state: State }) {
  const [shown, show] = useState<(typeof filters)[number]>('all');
  const [most, setMost] = useState(50);
  if (!state.sources.length) return <Empty title={t('sources.none')} />;
  const list = state.sources.filter((s) => shown === 'all' || s.state === shown).sort((a, b) => (a.number || 1e9) - (b.number || 1e9));
  return (
    <div class="sources">
      <div class="chips" role="group" aria-label={t('sources.filter')}>
        {filters.map((f) => {
          const n = f === 'all' ? state.sources.length : state.sources.filter((s) => s.state === f).length;
          return n > 0 && <button type="button" class={'chip' + (shown === f ? ' on' : '')} aria-pressed={shown === f} onClick={() => show(f)}>{t(`sources.${f}` as Key)} <small>{format(n)}</small></button>;
        })}
      </div>
      <ul>{list.slice(0, most).map((s) => <Row key={s.url + s.number} run={run} source={s} />)}</ul>
      {list.length > most && <div><Button onClick={() => setMost(most * 5)}>{t('log.more')}</Button></div>}
    </div>
  );
}

function Row({ run, source: s }: { run: string; source: Source }) {
  return useMemo(() => (
    <li class={s.state}>
      <Tile of={s.url} />
      <div>
        <strong>{s.number > 0 && <span class="number">{s.number}</span>} {s.title || host(s.url)}</strong>
        <span class="meta">
          {isWeb(s.url) ? <a href={s.url} target="_blank" rel="noopener noreferrer nofollow">{host(s.url)}</a> : <span>{host(s.url)}</span>}
          {s.words > 0 && <span>{count('words', s.words)}</span>}
          {s.number > 0 && s.state === 'read' && <a href={`/run/${encodeURIComponent(run)}/source/${s.number}`} data-go>{t('sources.snapshot')}</a>}
        </span>
        {s.state === 'failed' ? <p class="hint bad">{s.reason}</p> : s.snippet && <p class="hint">{s.snippet}</p>}
      </div>
    </li>
  ), [run, s]);
}
