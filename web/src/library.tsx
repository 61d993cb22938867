// Runs that there are: to find one again, to ask it once more, to hold two against
// each other.

import { useState } from 'preact/hooks';
import { api, request, type RunRecord } from './api';
import { Compare } from './compare';
import { ago, clock, count, t, word, type Key } from './i18n';
import { go, runPath, usePlace } from './router';
import { modes } from './runs';
import { Button, Empty, Field, Find, Icon, Pill, Spinner, Trouble, typed, useAction, useLoaded } from './ui';

const ended = (status: string) => /^(done|failed|cancelled)$/.test(status);
const at = (id: string, what: string) => `/api/runs/${encodeURIComponent(id)}/${what}`;
const tagged = async (id: string, tags: string[]): Promise<{ tags?: string[] | null }> => (await request('PUT', at(id, 'tags'), { tags })).json();

export function LibraryScreen() {
  const { query } = usePlace();
  const [a, b] = [query.get('a'), query.get('b')];
  return a && b ? <Compare key={a + b} before={a} after={b} /> : <List />;
}

function List() {
  const [words, setWords] = useState('');
  const [status, setStatus] = useState('');
  const [mode, setMode] = useState('');
  const [tag, setTag] = useState('');
  const [chosen, choose] = useState<string[]>([]);
  const [most, setMost] = useState(100);
  const query: Record<string, string> = { limit: String(most) };
  if (words.trim()) query.q = words.trim();
  if (status) query.status = status;
  if (mode) query.mode = mode;
  if (tag) query.tag = tag;
  const found = useLoaded((signal) => api.runs(query, signal), [words.trim(), status, mode, tag, most]);
  const tags = useLoaded(async (signal): Promise<{ tag: string; runs: number }[]> => (await request('GET', '/api/tags', undefined, { signal })).json(), []);
  const changed = () => (found.again(), tags.again());
  return (
    <main class="narrow library" id="main">
      <div class="row"><h1>{t('library.title')}</h1><Import /></div>
      <form class="filters" role="search" onSubmit={(e) => e.preventDefault()}>
        <Find label={t('library.find')} value={words} change={setWords} />
        <label><span class="hidden">{t('library.status')}</span>
          <select value={status} onChange={typed(setStatus)}>
            <option value="">{t('library.status.any')}</option>
            {['running', 'waiting', 'paused', 'done', 'failed', 'cancelled'].map((s) => <option value={s}>{word('status', s)}</option>)}
          </select>
        </label>
        <label><span class="hidden">{t('ask.mode')}</span>
          <select value={mode} onChange={typed(setMode)}>
            <option value="">{t('library.mode.any')}</option>
            {modes.map((m) => <option value={m}>{t(`mode.${m}` as Key)}</option>)}
          </select>
        </label>
      </form>
      {!!tags.value?.length && (
        <div class="chips" role="group" aria-label={t('library.tags')}>
          {tags.value.map((x) => <button type="button" class={'chip' + (tag === x.tag ? ' on' : '')} aria-pressed={tag === x.tag} onClick={() => setTag(tag === x.tag ? '' : x.tag)}>{x.tag} <small>{x.runs}</small></button>)}
        </div>
      )}
      {chosen.length > 0 && (
        <div class="row chosen" role="status">
          <span>{chosen.length < 2 ? t('compare.choose') : t('compare.ready')}</span>
          <span class="row">
            <Button tone="main" small disabled={chosen.length !== 2} onClick={() => (go(`/library?a=${chosen[0]}&b=${chosen[1]}`), scrollTo(0, 0))}>{t('compare.do')}</Button>
            <Button tone="quiet" small onClick={() => choose([])}>{t('action.cancel')}</Button>
          </span>
        </div>
      )}
      <Trouble error={found.error} again={found.again} />
      {!found.value ? !found.error && <Spinner />
        : !found.value.length ? <Empty title={words || status || mode || tag ? t('library.none') : t('ask.recent.empty')} />
        : <ul class="runs">{found.value.map((r) => (
          <Row key={r.id} run={r} changed={changed} filter={setTag} chosen={chosen.includes(r.id)}
            choose={(on) => choose((was) => (on ? [...was.slice(-1), r.id] : was.filter((x) => x !== r.id)))} />
        ))}</ul>}
      {found.value && found.value.length >= most && most < 1000 && <p><Button onClick={() => setMost(Math.min(most * 3, 1000))}>{t('log.more')}</Button></p>}
    </main>
  );
}

function Import() {
  const { busy, error, act } = useAction();
  const take = (input: HTMLInputElement) =>
    act(async () => {
      const rec: RunRecord = await (await request('POST', '/api/runs/import', undefined, { body: input.files![0], headers: { 'Content-Type': 'application/zip' } })).json();
      go(runPath(rec.id));
    }).finally(() => (input.value = ''));
  return (
    <>
      <label class={'button import' + (busy ? ' busy' : '')}><Icon name="down" /><span>{t('library.import')}</span>
        <input type="file" accept=".zip" disabled={busy} onChange={(e) => e.currentTarget.files?.length && take(e.currentTarget)} />
      </label>
      <Trouble error={error} />
    </>
  );
}

interface RowProps {
  run: RunRecord;
  changed: () => void;
  filter: (tag: string) => void;
  chosen: boolean;
  choose: (on: boolean) => void;
}

function Row({ run: r, changed, filter, chosen, choose }: RowProps) {
  const { busy, error, act } = useAction();
  const [open, show] = useState('');
  const rerun = () =>
    act(async () => {
      const { session: _, agent_id: __, imported: ___, ...request } = ((await api.record(r.id)).request ?? {}) as Record<string, unknown>;
      go(runPath((await api.start({ ...request, mode: r.mode } as unknown as Parameters<typeof api.start>[0])).id));
    });
  return (
    <li class={chosen ? 'on' : ''}>
      <input type="checkbox" checked={chosen} disabled={!ended(r.status)} aria-label={t('compare.pick', { title: r.title })} onChange={(e) => choose(e.currentTarget.checked)} />
      <a href={runPath(r.id)} data-go>
        <strong>{r.title}</strong>
        <span class="meta"><Pill status={r.status} /><span>{word('mode', r.mode)}</span><span>{ago(r.created)}</span>{r.active > 0 && <span>{clock(r.active / 1e6)}</span>}</span>
      </a>
      <span class="actions">
        <Button tone="quiet" icon="tag" small aria-expanded={open === 'tags'} aria-label={t('library.tag', { title: r.title })} onClick={() => show(open === 'tags' ? '' : 'tags')} />
        <Button tone="quiet" icon="again" small disabled={busy} aria-label={t('library.rerun', { title: r.title })} onClick={rerun} />
        {ended(r.status) && <Button tone="quiet" icon="branch" small aria-expanded={open === 'fork'} aria-label={t('library.fork', { title: r.title })} onClick={() => show(open === 'fork' ? '' : 'fork')} />}
        <Button tone="quiet" icon="trash" small disabled={busy} aria-label={t('library.delete', { title: r.title })}
          onClick={async () => confirm(t('library.delete.sure', { title: r.title })) && (await act(() => api.remove(r.id))) && changed()} />
      </span>
      {(open || error || r.tags?.length) ? (
        <div class="below">
          <Trouble error={error} />
          {open === 'tags' ? <Tags run={r} changed={changed} /> : r.tags?.map((x) => <button type="button" class="chip" onClick={() => filter(x)}>{x}</button>)}
          {open === 'fork' && <Fork run={r} />}
        </div>
      ) : null}
    </li>
  );
}

function Tags({ run: r, changed }: { run: RunRecord; changed: () => void }) {
  const { busy, error, act } = useAction();
  const [text, set] = useState('');
  const [tags, keep] = useState(r.tags ?? []); // of the last reply: the list comes later
  const put = async (list: string[]) => (await act(async () => keep((await tagged(r.id, list)).tags ?? []))) && (set(''), changed());
  return (
    <form class="tags" onSubmit={(e) => (e.preventDefault(), text.trim() && put([...tags, text]))}>
      {tags.map((x) => <span class="chip">{x}<button type="button" class="bare" disabled={busy} aria-label={t('library.untag', { tag: x })} onClick={() => put(tags.filter((y) => y !== x))}><Icon name="close" /></button></span>)}
      <label><span class="hidden">{t('library.tag.new')}</span><input value={text} maxLength={50} placeholder={t('library.tag.new')} onInput={typed(set)} /></label>
      <Button small type="submit" icon="plus" disabled={busy || !text.trim()}>{t('library.tag.add')}</Button>
      <Trouble error={error} />
    </form>
  );
}

function Fork({ run: r }: { run: RunRecord }) {
  const { busy, error, act } = useAction();
  const [step, setStep] = useState('');
  const steps = useLoaded(async (): Promise<string[]> => {
    const d: { steps?: { key: string; kind: string }[] } = await (await request('GET', at(r.id, '').slice(0, -1))).json();
    return (d.steps ?? []).filter((s) => s.kind === 'step').map((s) => s.key);
  }, [r.id]);
  if (!steps.value) return steps.error ? <Trouble error={steps.error} /> : <Spinner />;
  if (!steps.value.length) return <p class="hint">{t('library.fork.none')}</p>;
  const chosen = step || steps.value[steps.value.length - 1];
  const fork = () => act(async () => go(runPath((await (await request('POST', at(r.id, 'fork'), { at: chosen })).json()).id)));
  return (
    <form class="fork" onSubmit={(e) => (e.preventDefault(), fork())}>
      <p class="hint">{t('library.fork.hint')} {count('steps', steps.value.length)}</p>
      <Field label={t('library.fork.at')}><select value={chosen} onChange={typed(setStep)}>{steps.value.map((s) => <option>{s}</option>)}</select></Field>
      <Button small type="submit" icon="branch" disabled={busy}>{t('library.fork.do')}</Button>
      <Trouble error={error} />
    </form>
  );
}
