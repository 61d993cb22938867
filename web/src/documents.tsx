// The documents of a collection: found by name, with why one could not be read, and
// each as the passages that it was cut into.

import { useEffect, useState } from 'preact/hooks';
import { count, format, t } from './i18n';
import { kb, type Entry, type Piece } from './kb';
import { reason } from './upload';
import { Button, Empty, Find, Icon, Spinner, Trouble, typed, useAction, useLoaded } from './ui';

const size = (n: number) => (n < 1 << 20 ? format(Math.ceil(n / 1024)) + ' kB' : format(n / (1 << 20), 1) + ' MB');

export function Documents({ name, round, changed }: { name: string; round: unknown; changed: () => void }) {
  const [words, setWords] = useState('');
  const [failed, setFailed] = useState('');
  const [most, setMost] = useState(50);
  const query: Record<string, string> = { limit: String(most) };
  if (words.trim()) query.q = words.trim();
  if (failed) query.failed = failed;
  const list = useLoaded((signal) => kb.documents(name, query, signal), [name, words.trim(), failed, most, round]);
  const { busy, error, act } = useAction();
  const docs = list.value?.documents ?? [];
  const drop = async (d: Entry) => confirm(t('kb.discard.sure', { path: d.path })) && (await act(() => kb.discard(name, d.n))) && (list.again(), changed());
  return (
    <section class="documents" aria-labelledby="documents">
      <h2 id="documents">{t('kb.documents')} {list.value && <small>{format(list.value.total)}</small>}</h2>
      <form class="filters" role="search" aria-labelledby="documents" onSubmit={(e) => e.preventDefault()}>
        <Find label={t('kb.find')} value={words} change={setWords} />
        <label><span class="hidden">{t('library.status')}</span>
          <select value={failed} onChange={typed(setFailed)}>
            <option value="">{t('sources.all')}</option>
            <option value="false">{t('sources.read')}</option>
            <option value="true">{t('sources.failed')}</option>
          </select>
        </label>
      </form>
      <Trouble error={error} />
      {list.error ? <Trouble error={list.error} again={list.again} /> : !list.value ? <Spinner />
        : !docs.length ? <Empty title={words || failed ? t('library.none') : t('kb.empty')}>{!words && !failed && t('kb.empty.hint')}</Empty>
        : <ul class="files">{docs.map((d) => <Row key={d.n} name={name} doc={d} busy={busy} drop={() => drop(d)} />)}</ul>}
      {list.value && list.value.total > docs.length && docs.length < 200 && <Button small onClick={() => setMost(200)}>{t('log.more')}</Button>}
      {list.value && list.value.total > 200 && docs.length >= 200 && <p class="hint">{t('kb.more', { n: format(list.value.total - docs.length) })}</p>}
    </section>
  );
}

function Row({ name, doc: d, busy, drop }: { name: string; doc: Entry; busy: boolean; drop: () => void }) {
  const [open, setOpen] = useState(false);
  return (
    <li class={d.failure ? 'failed' : ''}>
      <details onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>
          <span class="path">{d.path}</span>
          <span class="meta">{d.title && !d.path.endsWith(d.title) && <span>{d.title}</span>}{d.format && <span>{d.format}</span>}<span>{size(d.size)}</span>{!d.failure && <span>{count('passages', d.chunks)}</span>}</span>
          {d.failure && <span class="hint bad"><Icon name="warn" /> {reason(d.failure)}</span>}
        </summary>
        {open && (d.failure ? <p class="hint">{d.failure.why}</p> : <Passages name={name} n={d.n} total={d.chunks} />)}
      </details>
      {d.uploaded && <Button tone="quiet" icon="trash" small disabled={busy} aria-label={t('kb.discard', { path: d.path })} onClick={drop} />}
    </li>
  );
}

function Passages({ name, n, total }: { name: string; n: number; total: number }) {
  const [pieces, set] = useState<Piece[]>([]);
  const { busy, error, act } = useAction();
  const more = () => act(async () => {
    const got = (await kb.document(name, n, pieces.length)).passages ?? [];
    set((was) => [...was, ...got]);
  });
  useEffect(() => void more(), []);
  return (
    <>
      <ol class="pieces">{pieces.map((p) => (
        <li key={p.id}><span class="meta"><b>{p.id}</b>{!!p.headings?.length && <span>{p.headings.join(' › ')}</span>}{p.page ? <span>{t('cite.page')} {p.page}</span> : null}</span><p class="quoted">{p.text}</p></li>
      ))}</ol>
      {error ? <Trouble error={error} again={more} /> : busy ? <Spinner /> : pieces.length < total && <Button small onClick={more}>{t('log.more')}</Button>}
    </>
  );
}
