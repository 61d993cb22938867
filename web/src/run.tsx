// A run: what it does now, what it asks, and what it has delivered.

import { useEffect, useState } from 'preact/hooks';
import { api, type RunRecord } from './api';
import { ended } from './events';
import { open, totals, type State } from './fold';
import { clock, count, format, money, t, word } from './i18n';
import { oneLine } from './markdown';
import { talkPath } from './router';
import { useRun, type Followed } from './run-state';
import { Bar, Board } from './board';
import { Clarify } from './clarify';
import { Log } from './log';
import { Answer } from './report';
import { Sources } from './sources';
import { Button, Icon, Pill, Spinner, Trouble, useAction, useLoaded } from './ui';

type Tab = 'report' | 'work' | 'sources' | 'log';

export function RunScreen({ id }: { id: string }) {
  const followed = useRun(id, true);
  const { state, failed } = followed;
  const record = useLoaded(() => api.record(id), [id, state.status]);
  const [chosen, choose] = useState(() => new URLSearchParams(location.search).get('tab') as Tab | null);
  const over = ended(state.status);
  const title = oneLine(state.question || record.value?.title || '');
  useEffect(() => {
    document.title = (title ? title.slice(0, 60) + ' · ' : '') + 'Dossier';
  }, [title]);
  if (failed && !state.seq) return <main class="narrow" id="main"><Trouble error={failed} /></main>;
  const answered = state.messages.some((m) => m.role === 'assistant');
  const chat = record.value?.mode === 'chat';
  const tab: Tab = chosen ?? (answered || over || chat || (state.draft && !state.agents.length) ? 'report' : 'work');
  const ask = open(state);
  const bare = !!ask && !answered && !state.agents.length && !state.searches.length; // there is nothing to see beside what it asks
  const tabs: [Tab, string][] = [
    ['report', answered ? t('tab.report') : t('tab.draft')], ['work', t('tab.work')],
    ['sources', t('tab.sources') + (state.sources.length ? ` ${format(state.sources.length)}` : '')], ['log', t('tab.log')],
  ];
  return (
    <main class="run" id="main">
      <div class="head">
        <h1>{title || <span class="ghost">{t('state.loading')}</span>}</h1>
        <Facts state={state} record={record.value} connection={followed.connection} />
        <Controls id={id} state={state} record={record.value} followed={followed} />
      </div>
      <Warnings state={state} record={record.value} />
      {ask && <Clarify key={ask.id} run={id} ask={ask} state={state} />}
      {!bare && <><div class="tabs" role="tablist" aria-label={t('tab.label')}>
        {tabs.map(([name, label]) => (
          <button type="button" role="tab" id={'tab-' + name} aria-selected={tab === name} aria-controls="panel" tabIndex={tab === name ? 0 : -1} onClick={() => choose(name)}
            onKeyDown={(e) => {
              const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
              if (!step) return;
              const to = tabs[(tabs.findIndex(([n]) => n === tab) + step + tabs.length) % tabs.length][0];
              choose(to);
              document.getElementById('tab-' + to)?.focus();
            }}>{label}</button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={'tab-' + tab} tabIndex={-1}>
        {tab === 'report' ? <Answer id={id} state={state} record={record.value} again={followed.again} />
          : tab === 'work' ? <Board state={state} />
          : tab === 'sources' ? <Sources run={id} state={state} />
          : <Log log={state.log} />}
      </div></>}
    </main>
  );
}

/** useNow ticks while something goes on. */
function useNow(ticking: boolean): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    if (!ticking) return;
    set(Date.now());
    const timer = setInterval(() => set(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}

function Facts({ state, record, connection }: { state: State; record?: RunRecord; connection: string }) {
  const now = useNow(state.status === 'running');
  const sum = totals(state);
  const spent = record?.spent;
  const cost = Math.max(sum.cost, spent?.cost ?? 0);
  const read = state.sources.filter((s) => s.state === 'read').length;
  const covered = state.coverage.claims ?? state.coverage.rubric ?? state.coverage.facets;
  const time = state.active + (state.since ? Math.max(0, now - state.since) : 0);
  return (
    <div class="facts">
      <Pill status={state.status || 'queued'} />
      {record && <span>{word('mode', record.mode)}</span>}
      {record && <a href={talkPath(record.session)} data-go>{t('fact.talk')}</a>}
      <span title={t('fact.time')}>{clock(time)}</span>
      {sum.tokens > 0 && <details class="fact"><summary>{count('tokens', sum.tokens)}</summary><Spending state={state} /></details>}
      {cost > 0 && <span>{money(cost)}</span>}
      {read > 0 && <span>{count('read', read)}</span>}
      {covered && covered.total > 0 && <span class="covered" title={t('fact.coverage')}><Bar share={covered.covered / covered.total} />{format(covered.covered)}/{format(covered.total)}</span>}
      {connection === 'lost' && <span class="lost" role="status">{t('state.lost')}</span>}
    </div>
  );
}

function Spending({ state }: { state: State }) {
  return (
    <table>
      <thead><tr><th>{t('spent.role')}</th><th>{t('spent.calls')}</th><th>{t('spent.in')}</th><th>{t('spent.out')}</th><th>{t('spent.cost')}</th></tr></thead>
      <tbody>{state.spending.map((s) => <tr><td>{s.role || '–'} <small>{s.model}</small></td><td>{format(s.calls)}</td><td>{format(s.input)}</td><td>{format(s.output)}</td><td>{s.cost ? money(s.cost) : '–'}</td></tr>)}</tbody>
    </table>
  );
}

function Controls({ id, state, record, followed }: { id: string; state: State; record?: RunRecord; followed: Followed }) {
  const { busy, error, act } = useAction();
  const [steering, steer] = useState<string | null>(null);
  const [told, setTold] = useState(false);
  const live = state.status === 'running' || state.status === 'queued' || state.status === 'waiting';
  const resumable = state.status === 'paused' || state.status === 'failed' || state.status === 'cancelled' || (state.status === 'done' && state.warnings.some((w) => w.hit));
  const hit = state.warnings.find((w) => w.hit);
  const resume = () =>
    act(async () => {
      await api.resume(id, hit ? raised(hit, record) : undefined);
      followed.again();
    });
  return (
    <div class="controls">
      {live && <>
        <Button icon="pause" disabled={busy} onClick={() => act(() => api.pause(id))}>{t('control.pause')}</Button>
        <Button icon="flag" disabled={busy} onClick={() => act(() => api.finish(id))}>{t('control.finish')}</Button>
        <Button disabled={busy} onClick={() => (steer(steering === null ? '' : null), setTold(false))} aria-expanded={steering !== null}>{t('control.steer')}</Button>
        <Button tone="danger" icon="stop" disabled={busy} onClick={() => act(() => api.cancel(id))}>{t('control.cancel')}</Button>
      </>}
      {resumable && <Button tone="main" icon="play" disabled={busy} onClick={resume}>{hit ? t('control.resume.more') : t('control.resume')}</Button>}
      {live && steering !== null && (
        <form class="steer" onSubmit={async (e) => {
          e.preventDefault();
          if (steering.trim() && (await act(() => api.steer(id, steering.trim())))) (steer(''), setTold(true));
        }}>
          <label><span class="hidden">{t('steer.label')}</span><input value={steering} placeholder={t('steer.label')} onInput={(e) => (steer(e.currentTarget.value), setTold(false))} /></label>
          <Button type="submit" disabled={busy || !steering.trim()}>{t('steer.send')}</Button>
          {told && <span role="status" class="hint">{t('steer.told')}</span>}
        </form>
      )}
      {error ? <Trouble error={error} /> : null}
    </div>
  );
}

// raised doubles the limit that a run has met.
function raised(hit: State['warnings'][number], record?: RunRecord) {
  const was = (record?.request?.limits ?? {}) as Record<string, number>;
  const names: Record<string, string> = { tokens: 'tokens', cost: 'cost', time: 'time', searches: 'searches', pages: 'pages' };
  const name = names[hit.what];
  if (!name) return undefined;
  return { [name]: 2 * (was[name] || (name === 'time' ? hit.limit * 1e9 : hit.limit)) };
}

function Warnings({ state, record }: { state: State; record?: RunRecord }) {
  const last = state.failures[state.failures.length - 1];
  const failure = state.status === 'failed' ? (record?.failure ?? state.troubles[state.troubles.length - 1]) : undefined;
  const running = state.status === 'running';
  return (
    <>
      {failure && <div class="notice bad" role="alert"><Icon name="warn" /><div><p>{failure.message}</p>{failure.hint && <p class="hint">{failure.hint}</p>}</div></div>}
      {state.warnings.filter((w) => w.hit).map((w) => <div class="notice"><Icon name="warn" /><p>{t('warning.limit', { what: word('limit', w.what), limit: format(w.limit, 2) })}</p></div>)}
      {running && state.waiting && <div class="notice"><Icon name="warn" /><p>{t('warning.waiting', { why: state.waiting.message || state.waiting.code })}</p></div>}
      {!running && last && last.then === 'rules' && <div class="notice"><Icon name="warn" /><p>{t('warning.rules', { why: last.message })}</p></div>}
      {state.status === 'queued' && <Spinner label={t('state.queued')} />}
    </>
  );
}
