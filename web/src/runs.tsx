// A list of runs.

import { api, type RunRecord } from './api';
import { ago, clock, t, word } from './i18n';
import { runPath } from './router';
import { Button, Empty, Pill, Trouble, useAction } from './ui';

export const modes = ['chat', 'web_search', 'deep_search', 'deep_research'] as const;

export function RunList({ runs, empty, removed }: { runs: RunRecord[]; empty: string; removed?: () => void }) {
  const { error, act, busy } = useAction();
  if (!runs.length) return <Empty title={empty} />;
  return (
    <>
      <Trouble error={error} />
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
