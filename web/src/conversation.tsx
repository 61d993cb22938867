// A conversation: what was asked and answered in turn, and the list of all.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Ask, type RunRecord, type Said, type Session } from './api';
import { ended } from './events';
import { open, type State } from './fold';
import { brief, ago, count, format, t, word } from './i18n';
import { go, runPath, talkPath } from './router';
import { useRun } from './run-state';
import { Clarify } from './clarify';
import { Cited } from './report';
import { Markdown } from './prose';
import { modes } from './runs';
import { Button, Empty, focused, host, Icon, Lost, Pill, Spinner, Tile, Trouble, typed, useAction, useLoaded } from './ui';

export function ConversationScreen({ id }: { id: string }) {
  const sessions = useLoaded((signal) => api.sessions(signal), [id]);
  return (
    <main class="talk" id="main">
      <aside aria-labelledby="talks">
        <h2 id="talks">{t('talk.list')}</h2>
        {sessions.error ? <Trouble error={sessions.error} again={sessions.again} /> : !sessions.value ? <Spinner /> : <Sessions list={sessions.value} open={id} changed={sessions.again} />}
      </aside>
      {id ? <Talk key={id} id={id} renamed={sessions.again} /> : <div class="turns"><h1 class="hidden">{t('talk.list')}</h1><Empty title={t('talk.choose')}><a href="/" data-go>{t('talk.begin')}</a></Empty></div>}
    </main>
  );
}

function Sessions({ list, open, changed }: { list: Session[]; open: string; changed: () => void }) {
  const [renaming, rename] = useState<{ id: string; title: string } | null>(null);
  const { busy, error, act } = useAction();
  if (!list.length) return <Empty title={t('ask.recent.empty')}><a href="/" data-go>{t('talk.begin')}</a></Empty>;
  return (
    <>
      <Trouble error={error} />
      <ul>
        {list.map((s) => (
          <li key={s.id} class={s.id === open ? 'on' : ''}>
            {renaming?.id === s.id ? (
              <form onSubmit={async (e) => (e.preventDefault(), renaming.title.trim() && (await act(() => api.rename(s.id, renaming.title.trim()))) && (rename(null), changed()))}>
                <label><span class="hidden">{t('talk.title')}</span><input value={renaming.title} onInput={(e) => rename({ id: s.id, title: e.currentTarget.value })} onKeyDown={(e) => e.key === 'Escape' && rename(null)} ref={focused} /></label>
                <Button small type="submit" icon="check" disabled={busy} aria-label={t('talk.save')} />
              </form>
            ) : (
              <>
                <a href={talkPath(s.id)} data-go aria-current={s.id === open ? 'page' : undefined}><span>{s.title}</span><small>{ago(s.updated)} · {count('turns', s.runs)}</small></a>
                <span class="tools">
                  <Button small tone="quiet" icon="pen" aria-label={t('talk.rename', { title: s.title })} onClick={() => rename({ id: s.id, title: s.title })} />
                  <Button small tone="quiet" icon="trash" disabled={busy} aria-label={t('library.delete', { title: s.title })}
                    onClick={async () => confirm(t('library.delete.sure', { title: s.title })) && (await act(() => api.forget(s.id))) && (s.id === open && go('/talk'), changed())} />
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Spoken is what was said in the turns, for those that follow them. */
type Spoken = Map<string, { question: string; answer: string }>;

function Talk({ id, renamed }: { id: string; renamed: () => void }) {
  const session = useLoaded(async (signal) => {
    const found = await api.session(id, signal);
    const runs = [...(found.list ?? [])].reverse(); // a list has no requests: how it began and what was asked last are got by themselves
    return { title: found.title, runs, began: runs.length ? await api.record(runs[0].id) : undefined };
  }, [id]);
  const spoken = useRef<Spoken>(new Map());
  const [editing, edit] = useState<Editing | null>(null);
  const [text, setText] = useState('');
  const [mode, setMode] = useState('');
  const { busy, error, act } = useAction();
  const runs = session.value?.runs ?? [];
  const last = runs[runs.length - 1];
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [last?.id]);
  const title = session.value?.title;
  useEffect(() => {
    if (title) document.title = title + ' · Dossier';
  }, [title]);
  if (session.error && !session.value) return <div class="turns"><Trouble error={session.error} again={session.again} /></div>;
  if (!session.value) return <div class="turns"><Spinner /></div>;

  const history = session.value.began?.request?.history ?? [];
  /** before is what was said before a turn: by the branch that the session began as, and in it. */
  const before = (index: number): Said[] => [
    ...history,
    ...runs.slice(0, index).flatMap((r) => {
      const said = spoken.current.get(r.id);
      return [{ role: 'user', content: said?.question || r.title }, ...(said?.answer ? [{ role: 'assistant', content: said.answer }] : [])];
    }),
  ];
  const ask = (question: string) =>
    act(async () => {
      await api.start({ ...(await like(last, mode)), question, session: id, ...(history.length ? { history: before(runs.length) } : {}) });
      setText('');
      session.again();
      renamed();
    });
  /** branch asks a question in the place of a turn, or behind it, in a conversation of its own. */
  const branch = (index: number, question: string) =>
    act(async () => {
      const said = before(index + (editing?.behind ? 1 : 0));
      const next = await api.start({ ...(await like(runs[index])), question, ...(said.length ? { history: said } : {}) });
      edit(null);
      go(talkPath(next.session));
    });
  return (
    <div class="turns">
      <h1>{session.value.title}</h1>
      {history.length > 0 && <details class="earlier"><summary>{t('talk.earlier')}</summary>{history.map((m) => <p class={m.role}><b>{word('said', m.role)}</b> {m.content}</p>)}</details>}
      {runs.map((r, i) => (
        <Turn key={r.id} record={r} spoken={spoken.current} editing={editing?.id === r.id ? editing : null} edit={edit} busy={busy} branch={(q) => branch(i, q)} />
      ))}
      <Trouble error={error} />
      <form class="say" onSubmit={(e) => (e.preventDefault(), text.trim() && last && ask(text.trim()))}>
        <label><span class="hidden">{t('followup.label')}</span>
          <textarea rows={1} value={text} placeholder={t('followup.label')} onInput={typed(setText)}
            onKeyDown={(e) => {
              if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
                e.preventDefault();
                e.currentTarget.form!.requestSubmit();
              }
            }} />
        </label>
        <label><span class="hidden">{t('ask.mode')}</span>
          <select value={mode || last?.mode} onChange={typed(setMode)}>
            {[...new Set<string>([...modes, ...(last ? [last.mode] : [])])].map((m) => <option value={m}>{word('mode', m)}</option>)}
          </select>
        </label>
        <Button type="submit" tone="main" icon="send" disabled={busy || !text.trim()}>{t('ask.start')}</Button>
      </form>
      <div ref={end} />
    </div>
  );
}

/** Editing is the turn that is asked anew, or behind which a branch begins. */
interface Editing {
  id: string;
  behind: boolean;
}

/** like is how a run was asked, for one that follows it, in the same mode or another. */
async function like(run: RunRecord, mode = ''): Promise<Pick<Ask, 'mode' | 'in' | 'model' | 'agent' | 'agent_id' | 'instance'>> {
  const { request = {} } = await api.record(run.id);
  if (mode && mode !== run.mode) return { mode, model: request.model, ...(mode !== 'chat' && run.mode !== 'agent' ? { in: request.in } : {}) };
  return { mode: run.mode, model: request.model, in: request.in, agent: request.agent, agent_id: request.agent_id, instance: request.instance };
}

interface TurnProps {
  record: RunRecord;
  spoken: Spoken;
  editing: Editing | null;
  edit: (what: Editing | null) => void;
  busy: boolean;
  branch: (question: string) => void;
}

function Turn({ record, spoken, editing, edit, busy, branch }: TurnProps) {
  const { state, failed, connection, again } = useRun(record.id);
  const asked = state.question || record.title;
  const [question, setQuestion] = useState('');
  const doing = useAction();
  const answer = state.messages.findLast((m) => m.role === 'assistant');
  const said = answer ? answer.answer || answer.text : '';
  if (state.question) spoken.set(record.id, { question: state.question, answer: said });
  const ask = open(state);
  const status = state.status || 'queued';
  const over = ended(status);
  const failure = useLoaded(async () => (status === 'failed' ? (await api.record(record.id)).failure : undefined), [status]).value; // in the language of the page
  const change = (behind: boolean) => (setQuestion(behind ? '' : asked), edit({ id: record.id, behind }));
  const form = editing && (
    <form class="asked-again" onSubmit={(e) => (e.preventDefault(), question.trim() && branch(question.trim()))}>
      <label><span class="hidden">{t(editing.behind ? 'talk.branch' : 'talk.edit')}</span><textarea rows={2} value={question} ref={focused} placeholder={editing.behind ? t('talk.branch') : ''} onInput={typed(setQuestion)} onKeyDown={(e) => e.key === 'Escape' && edit(null)} /></label>
      <div class="row"><Button tone="quiet" onClick={() => edit(null)}>{t('talk.leave')}</Button><Button type="submit" tone="main" disabled={busy || !question.trim()}>{t('talk.again')}</Button></div>
    </form>
  );
  return (
    <article class="turn">
      {editing && !editing.behind ? form : <div class="asked-by"><p>{asked}</p><Button small tone="quiet" icon="pen" aria-label={t('talk.edit')} title={t('talk.edit')} onClick={() => change(false)} /></div>}
      {failed && <Trouble error={failed} />}
      {connection === 'lost' && <Lost />}
      {ask && <Clarify key={ask.id} run={record.id} ask={ask} state={state} />}
      <div class="answered">
        <div aria-live="polite" aria-busy={!over}>
          {answer ? <Cited id={record.id} state={state} text={said} citations={answer.citations} /> : state.draft ? <div class="live"><Markdown text={state.draft} /><i class="caret" aria-hidden="true" /></div> : (status === 'running' || status === 'queued') && !ask && <Doing state={state} />}
          {failure && <div class="notice bad" role="alert"><Icon name="warn" /><div><p>{failure.message}</p>{failure.hint && <p class="hint">{failure.hint}</p>}</div></div>}
          {answer && answer.points.length > 0 && <details class="reasoning"><summary>{t('report.points')}</summary><ul class="points">{answer.points.map((p) => <li>{p}</li>)}</ul></details>}
          {answer?.reasoning && <details class="reasoning"><summary>{t('report.reasoning')}</summary><Markdown text={answer.reasoning} /></details>}
        </div>
        <Beside state={state} run={record.id} />
      </div>
      <footer class="meta">
        {status !== 'done' && <Pill status={status} />}
        <span>{word('mode', record.mode)}</span>
        {answer && (answer.extractive ? <span class="engine none">{t('engine.none')}</span> : answer.model && <span>{answer.model}</span>)}
        <a href={runPath(record.id)} data-go>{t('talk.details')}</a>
        {(over || status === 'paused') && status !== 'done' && <Button small icon="again" disabled={doing.busy} onClick={() => doing.act(async () => (await api.resume(record.id), again()))}>{t('action.again')}</Button>}
        {!over && <Button small icon="stop" disabled={doing.busy} onClick={() => doing.act(() => api.cancel(record.id))}>{t('control.cancel')}</Button>}
        {over && <Button small tone="quiet" icon="branch" aria-expanded={!!editing?.behind} onClick={() => change(true)}>{t('talk.branch')}</Button>}
      </footer>
      <Trouble error={doing.error} />
      {editing?.behind && form}
    </article>
  );
}

/** Doing says in a line what goes on. */
function Doing({ state: { waiting, searches, status } }: { state: State }) {
  const search = searches[searches.length - 1];
  return <Spinner label={waiting ? waits(waiting) : search ? `${word('tool', 'web_search')}: ${search.query}` : t(status === 'queued' ? 'state.queued' : 'board.begins')} />;
}

/** waits says what a run waits for. */
export const waits = ({ code, message, wait }: NonNullable<State['waiting']>) =>
  code === 'quiet' ? t('warning.quiet', { n: format(wait) }) : t('warning.waiting', { why: brief(code, message) }) + (wait >= 1 ? ' ' + t('warning.next', { n: format(wait) }) : '');

/** Beside are the sources of a turn. */
function Beside({ state, run }: { state: State; run: string }) {
  const used = state.sources.filter((s) => s.number > 0 && s.state === 'read').sort((a, b) => a.number - b.number);
  if (!used.length) return null;
  return (
    <div class="beside">
      <ol aria-label={t('tab.sources')}>
        {used.slice(0, 8).map((s) => (
          <li><a href={`${runPath(run)}/source/${s.number}`} data-go><Tile of={s.url} /><span><b>{s.number}</b> {s.title || host(s.url)}<small>{host(s.url)}</small></span></a></li>
        ))}
      </ol>
      {used.length > 8 && <a href={runPath(run)} data-go>{t('agents.all', { n: used.length })}</a>}
    </div>
  );
}
