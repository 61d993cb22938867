// The team at work: the plan, who does what, what was decided and looked for.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent, State, Timed } from './fold';
import { clock, count, format, t, word } from './i18n';
import { Settled } from './clarify';
import { ended } from './events';
import { Empty, Icon, Spinner } from './ui';

export function Board({ state }: { state: State }) {
  const team = state.agents.filter((a) => a.name !== 'supervisor');
  const bare = !state.plan && !team.length && !state.searches.length;
  if (bare) return ended(state.status) ? <Empty title={t('board.none')} /> : state.status === 'running' ? <Spinner label={t('board.begins')} /> : null;
  const rubric = state.coverage.rubric;
  // A step of the plan that is a point of the rubric is done when that is answered.
  const steps = (state.plan?.steps ?? []).map((s) => ({ ...s, ...(s.state !== 'done' && state.rubric.find((x) => x.title === s.title && x.state !== 'pending')) }));
  const points = state.rubric.filter((x) => !steps.some((s) => s.title === x.title));
  const told = state.notes.filter((n) => n.user);
  const live = state.status === 'running';
  return (
    <div class="board">
      <div>
        {state.progress && <Progress progress={state.progress} />}
        {state.plan && (
          <section aria-labelledby="steps">
            <h2 id="steps">{t('board.plan')}</h2>
            <ol class="steps">{steps.map((s) => <li class={s.state}><Mark state={s.state} /><span>{s.title} <Took of={s} /></span></li>)}</ol>
          </section>
        )}
        {rubric && rubric.total > 0 && (
          <section class="rubric">
            <Bar share={rubric.covered / rubric.total} />
            <p>{t('board.rubric', { covered: rubric.covered, total: rubric.total })}</p>
            {points.length > 0 && <ul class="todos">{points.map((x) => <li class={x.state}><Mark state={x.state} /><span>{x.title}</span></li>)}</ul>}
          </section>
        )}
        <Settled asks={state.asks} />
        {told.length > 0 && <dl class="settled"><dt>{t('said.user')}</dt>{told.map((n) => <dd>{n.text}</dd>)}</dl>}
        {state.reflected && (
          <section><h2>{t('board.reflected')}</h2><p>{state.reflected.text}{state.reflected.score > 0 && <b> {state.reflected.score}/10</b>}</p>
            {state.reflected.gaps.length > 0 && <ul>{state.reflected.gaps.map((g) => <li>{g}</li>)}</ul>}</section>
        )}
        {state.decisions.length > 0 && (
          <section aria-labelledby="decisions">
            <h2 id="decisions">{t('board.decisions')}</h2>
            <ol class="decisions">
              {state.decisions.map((d) => (
                <li><span class={'tag ' + d.decision}>{word('decision', d.decision)}</span> {d.reason}{d.tasks.length > 0 && <ul>{d.tasks.map((x) => <li>{x}</li>)}</ul>}</li>
              ))}
            </ol>
          </section>
        )}
      </div>
      <div>
        {team.length > 0 && (
          <section aria-labelledby="team">
            <h2 id="team">{t('board.team')}</h2>
            <div class="team">{team.map((a) => <Card key={a.name} agent={a} live={live} />)}</div>
          </section>
        )}
        {state.searches.length > 0 && <Searches state={state} />}
      </div>
    </div>
  );
}

function Progress({ progress }: { progress: NonNullable<State['progress']> }) {
  return <p class="progress" role="status"><i class="beat" aria-hidden="true" />{word('progress', progress.what)} {format(progress.done)}{progress.total > 0 && '/' + format(progress.total)} <small>{progress.note}</small></p>;
}

export const Mark = ({ state }: { state: string }) => (
  <span class={'mark ' + state} title={word('todo', state)}>{state === 'done' ? <Icon name="check" /> : state === 'dropped' || state === 'missing' ? <Icon name="close" /> : <i />}<span class="hidden">{word('todo', state)}</span></span>
);

const Took = ({ of }: { of: Timed }) => (of.took! >= 1000 ? <small title={t('fact.time')}>{clock(of.took!)}</small> : null);

// A card shows nobody at work in a run that rests or is over.
function Card({ agent, live }: { agent: Agent; live: boolean }) {
  const note = agent.notes[agent.notes.length - 1];
  const does = agent.state === 'working' && !live ? 'idle' : agent.state;
  return (
    <article class={'member ' + does}>
      <header><strong>{agent.role || agent.name}</strong><span class="hint">{does === 'working' && <i class="beat" aria-hidden="true" />}{word('agent', does)} <Took of={agent} /></span></header>
      {does === 'working' && (agent.now || agent.tool) && <p class="now">{agent.tool && <b>{word('tool', agent.tool)}</b>} {agent.now}</p>}
      {agent.todos.length > 0 && <ul class="todos">{agent.todos.map((x) => <li class={x.state}><Mark state={x.state} /><span>{x.title} <Took of={x} /></span></li>)}</ul>}
      {!agent.todos.length && agent.task && <p>{agent.task}</p>}
      {note && <Notes notes={agent.notes} />}
      {agent.state === 'done' && !note && agent.now && <p class="note">{agent.now}</p>}
    </article>
  );
}

// Notes may be hundreds: they are there when they are looked at.
function Notes({ notes }: { notes: string[] }) {
  const [open, set] = useState(false);
  return <details onToggle={(e) => set(e.currentTarget.open)}><summary>{count('notes', notes.length)}</summary>{open && notes.slice(-50).map((n) => <p class="note">{n}</p>)}</details>;
}

function Searches({ state }: { state: State }) {
  const last = state.searches.slice(-12).reverse();
  return (
    <section aria-labelledby="searches">
      <h2 id="searches">{t('board.searches')} <small>{format(state.searches.length)}</small></h2>
      <ul class="searches">
        {last.map((s) => (
          <li class={s.error ? 'bad' : s.over || state.status !== 'running' ? '' : 'active'}>
            <Icon name="search" /><span>{s.query}</span>
            <small>{!s.over ? '…' : s.error ? s.error : t('search.found', { found: s.found, fresh: s.fresh })}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Bar shows a share beside words that say it. */
export function Bar({ share }: { share: number }) {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    bar.current!.style.width = 100 * share + '%';
  }, [share]);
  return <span class="bar" aria-hidden="true"><i ref={bar} /></span>;
}
