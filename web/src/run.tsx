// A run: what it does now, what it asks, and what it has delivered.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, type Limits, type RunRecord, type Share } from './api';
import { ended } from './events';
import { open, totals, type State } from './fold';
import { brief, clock, count, format, money, t, word, type Key } from './i18n';
import { oneLine } from './markdown';
import { talkPath } from './router';
import { useRun, type Followed } from './run-state';
import { Bar, Board } from './board';
import { Clarify } from './clarify';
import { Log } from './log';
import { Answer } from './report';
import { Sources } from './sources';
import { waits } from './conversation';
import { Button, Icon, Lost, Pill, Spinner, Trouble, focused, useAction, useLoaded } from './ui';

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
        <Facts state={state} record={record.value} whole={tab !== 'report' || !answered} />
        <Controls id={id} state={state} record={record.value} followed={followed} />
      </div>
      {followed.connection === 'lost' && <Lost />}
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

// whole facts have the coverage, which a report says itself.
function Facts({ state, record, whole }: { state: State; record?: RunRecord; whole: boolean }) {
  const now = useNow(state.status === 'running');
  const sum = totals(state);
  const spent = record?.spent;
  const cost = Math.max(sum.cost, spent?.cost ?? 0);
  const read = state.sources.filter((s) => s.state === 'read').length;
  const time = state.active + (state.since ? Math.max(0, now - state.since) : 0);
  return (
    <div class="facts">
      <span role="status"><Pill status={state.status || 'queued'} /></span>
      {record && <span>{word('mode', record.mode)}</span>}
      {record && <a href={talkPath(record.session)} data-go>{t('fact.talk')}</a>}
      <span title={t('fact.time')}>{clock(time)}</span>
      {sum.input + sum.output > 0 && <details class="fact"><summary>{count('tokens', sum.input + sum.output)}</summary><Spending state={state} /></details>}
      {cost > 0 && <span>{money(cost)}</span>}
      {read > 0 && <span>{count('read', read)}</span>}
      {whole && <>
        <Covered share={state.coverage.rubric} says="board.rubric" />
        <Covered share={state.coverage.facets} says="report.facets" />
        <Covered share={state.coverage.claims} says="report.claims" />
      </>}
    </div>
  );
}

const Covered = ({ share, says }: { share?: Share; says: Key }) =>
  share && share.total > 0 ? <span class="covered"><Bar share={share.covered / share.total} />{t(says, { covered: format(share.covered), total: format(share.total) })}</span> : null;

function Spending({ state }: { state: State }) {
  const row = (name: ComponentChildren, s: Omit<State['spending'][number], 'role' | 'model'>) => (
    <tr><td>{name}</td><td>{format(s.calls)}</td><td>{format(s.input)}</td><td>{format(s.output)}</td><td>{s.cost ? money(s.cost) : '–'}</td></tr>
  );
  return (
    <table>
      <thead><tr><th>{t('spent.role')}</th><th>{t('spent.calls')}</th><th>{t('spent.in')}</th><th>{t('spent.out')}</th><th>{t('spent.cost')}</th></tr></thead>
      <tbody>{state.spending.map((s) => row(<>{word('role', s.role) || '–'} <small>{s.model}</small></>, s))}</tbody>
      <tfoot>{row(t('spent.all'), totals(state))}</tfoot>
    </table>
  );
}

function Controls({ id, state, record, followed }: { id: string; state: State; record?: RunRecord; followed: Followed }) {
  const { busy, error, act } = useAction();
  const [steering, steer] = useState<string | null>(null);
  const [told, setTold] = useState(false);
  const live = state.status === 'running' || state.status === 'queued' || state.status === 'waiting';
  const resumable = state.status === 'paused' || state.status === 'failed' || state.status === 'cancelled' || (state.status === 'done' && state.warnings.some((w) => w.hit));
  const hit = state.warnings.filter((w) => w.hit);
  const resume = () =>
    act(async () => {
      await api.resume(id, raised(hit, record));
      followed.again();
    });
  return (
    <div class="controls">
      {live && <>
        <Button icon="pause" disabled={busy} onClick={() => act(() => api.pause(id))}>{t('control.pause')}</Button>
        <Button icon="flag" disabled={busy} onClick={() => act(() => api.finish(id))}>{t('control.finish')}</Button>
        {record?.mode !== 'chat' && <Button disabled={busy} onClick={() => (steer(steering === null ? '' : null), setTold(false))} aria-expanded={steering !== null}>{t('control.steer')}</Button>}
        <Button tone="danger" icon="stop" disabled={busy} onClick={() => act(() => api.cancel(id))}>{t('control.cancel')}</Button>
      </>}
      {resumable && <Button tone="main" icon="play" disabled={busy} onClick={resume}>{hit.length ? t('control.resume.more') : t('control.resume')}</Button>}
      {live && steering !== null && (
        <form class="steer" onSubmit={async (e) => {
          e.preventDefault();
          if (steering.trim() && (await act(() => api.steer(id, steering.trim())))) (steer(''), setTold(true));
        }}>
          <label><span class="hidden">{t('steer.label')}</span><input value={steering} ref={focused} placeholder={t('steer.label')} onInput={(e) => (steer(e.currentTarget.value), setTold(false))} /></label>
          <Button type="submit" disabled={busy || !steering.trim()}>{t('steer.send')}</Button>
          {told && <span role="status" class="hint">{t('steer.told')}</span>}
        </form>
      )}
      <Trouble error={error} />
    </div>
  );
}

// raised doubles the limits that a run has met.
function raised(hit: State['warnings'], record?: RunRecord): Limits | undefined {
  const was: Limits = record?.request?.limits ?? {};
  const more = hit.filter((w) => /^(tokens|cost|time|searches|pages)$/.test(w.what)).map((w) => [w.what, 2 * (was[w.what as keyof Limits] || w.limit * (w.what === 'time' ? 1e9 : 1))]);
  return more.length ? Object.fromEntries(more) : undefined;
}

function Warnings({ state, record }: { state: State; record?: RunRecord }) {
  const last = state.failures[state.failures.length - 1];
  const failure = state.status === 'failed' ? record?.failure : undefined; // in the language of the page
  const running = state.status === 'running';
  return (
    <>
      {failure && <div class="notice bad" role="alert"><Icon name="warn" /><div><p>{failure.message}</p>{failure.hint && <p class="hint">{failure.hint}</p>}</div></div>}
      {state.warnings.filter((w) => w.hit).map((w) => <div class="notice"><Icon name="warn" /><p>{t('warning.limit', { what: word('limit', w.what), limit: format(w.limit, 2) })}</p></div>)}
      {running && state.waiting && <div class="notice" role="status"><Icon name="warn" /><p>{waits(state.waiting)}</p></div>}
      {!running && last && last.then === 'rules' && <div class="notice"><Icon name="warn" /><p>{t('warning.rules', { why: brief(last.code, last.message) })}</p></div>}
      {state.status === 'queued' && <Spinner label={t('state.queued')} />}
    </>
  );
}
