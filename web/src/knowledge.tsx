// Collections of documents: what is in them, what could not be read, and what a
// search finds there.

import { useState } from 'preact/hooks';
import { api, type Collection, type Found } from './api';
import { Documents } from './documents';
import { ago, count, format, t } from './i18n';
import { kb, tagsIn } from './kb';
import { go } from './router';
import { Button, Empty, Field, Find, host, Icon, Spinner, Tile, Trouble, typed, useAction, useLoaded } from './ui';
import { Drop, read } from './upload';

const path = (name: string) => '/knowledge/' + encodeURIComponent(name);

export function KnowledgeScreen({ name }: { name: string }) {
  const all = useLoaded(() => api.collections(), [name]);
  if (name) return <One key={name} name={name} used={all.value?.active === name} most={all.value?.max_file ?? 64 << 20} changed={all.again} />;
  return (
    <main class="narrow" id="main">
      <h1>{t('kb.title')}</h1>
      {all.error ? <Trouble error={all.error} again={all.again} /> : !all.value ? <Spinner /> : (
        <>
          {all.value.collections?.length ? <ul class="runs">{all.value.collections.map((c) => <Row key={c.id} collection={c} used={all.value!.active === c.name} />)}</ul>
            : <Empty title={t('kb.none')}>{t('kb.none.hint')}</Empty>}
          <New />
          <p class="hint">{t('kb.add').split('`').map((x, i) => (i % 2 ? <code>{x}</code> : x))}</p>
        </>
      )}
    </main>
  );
}

const Tags = ({ of }: { of?: string[] | null }) => <>{of?.map((tag) => <span class="tag">{tag}</span>)}</>;

function Row({ collection: c, used }: { collection: Collection; used: boolean }) {
  return (
    <li>
      <a href={path(c.name)} data-go>
        <strong>{c.auto ? host(c.name) : c.name}</strong>
        <span class="meta">{used && <span class="tag finish">{t('kb.used')}</span>}<Tags of={c.tags} /><span>{count('docs', c.documents)}</span>{c.synced && <span>{ago(c.synced)}</span>}{!!c.failed && <span class="hint bad">{t('kb.failed', { n: format(c.failed) })}</span>}</span>
      </a>
    </li>
  );
}

function New() {
  const [name, setName] = useState('');
  const [tags, setTags] = useState('');
  const { busy, error, act } = useAction();
  const make = () => act(async () => go(path((await kb.create(name, tagsIn(tags))).name)));
  return (
    <form class="panel new" onSubmit={(e) => (e.preventDefault(), name.trim() && make())}>
      <h2>{t('kb.new')}</h2>
      <div class="two">
        <Field label={t('kb.name')}><input value={name} maxLength={200} onInput={typed(setName)} /></Field>
        <Field label={t('kb.tags')}><input value={tags} onInput={typed(setTags)} /></Field>
      </div>
      <div><Button type="submit" icon="plus" disabled={busy || !name.trim()}>{t('kb.create')}</Button></div>
      <Trouble error={error} />
    </form>
  );
}

function One({ name, used, most, changed }: { name: string; used: boolean; most: number; changed: () => void }) {
  const loaded = useLoaded((signal) => api.collection(name, signal), [name]);
  const [round, setRound] = useState(0);
  const [tags, setTags] = useState<string | null>(null);
  const { busy, error, act } = useAction();
  const c = loaded.value;
  return (
    <main class="narrow" id="main">
      <a class="back" href="/knowledge" data-go><Icon name="back" />{t('kb.title')}</a>
      <h1>{c?.auto ? host(name) : name}</h1>
      {loaded.error ? <Trouble error={loaded.error} again={loaded.again} /> : !c ? <Spinner /> : (
        <>
          <p class="meta">{used && <span class="tag finish">{t('kb.used')}</span>}<span>{count('docs', c.documents)}</span><span>{count('passages', c.chunks ?? 0)}</span>{c.synced && <span>{ago(c.synced)}</span>}{!!c.failed && <span class="hint bad">{t('kb.failed', { n: format(c.failed) })}</span>}</p>
          {tags === null
            ? <p class="meta"><Tags of={c.tags} /><Button tone="quiet" small icon="pen" onClick={() => setTags((c.tags ?? []).join(', '))}>{t('kb.tags.edit')}</Button></p>
            : (
              <form class="row tags" onSubmit={async (e) => (e.preventDefault(), (await act(() => kb.tag(name, tagsIn(tags)))) && (setTags(null), loaded.again()))}>
                <Field label={t('kb.tags')}><input autofocus value={tags} onInput={typed(setTags)} /></Field>
                <Button type="submit" icon="check" disabled={busy}>{t('kb.save')}</Button>
              </form>
            )}
          {!!c.roots?.length && <p class="hint">{t('kb.roots')}: {c.roots.join(', ')}</p>}
          {!!c.outdated && <p class="notice"><Icon name="warn" />{t('kb.outdated', { n: format(c.outdated) })}</p>}
          <Drop name={name} most={most} unread={c.unread ?? 0} done={() => (setRound((n) => n + 1), loaded.again())} />
          {c.documents > 0 && <Look name={name} />}
          <Documents name={name} round={round} changed={loaded.again} />
          <div class="controls">
            {!used && <Button disabled={busy} onClick={async () => (await act(() => api.use(name))) && changed()}>{t('kb.use')}</Button>}
            <Button disabled={busy} onClick={() => read(name, true)}>{t('kb.reindex')}</Button>
            <Button tone="danger" icon="trash" disabled={busy} onClick={async () => confirm(c.uploads ? t('kb.delete.all', { name }) : t('kb.delete.sure', { name })) && (await act(() => api.drop(name))) && go('/knowledge')}>{t('kb.delete')}</Button>
          </div>
          <Trouble error={error} />
        </>
      )}
    </main>
  );
}

function Look({ name }: { name: string }) {
  const [text, set] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  const { busy, error, act } = useAction();
  return (
    <section class="sources" aria-labelledby="look">
      <h2 id="look">{t('kb.search')}</h2>
      <form class="filters" role="search" aria-labelledby="look" onSubmit={(e) => (e.preventDefault(), text.trim() && act(async () => setFound(await api.look(name, text.trim()))))}>
        <Find label={t('kb.search')} value={text} change={set} />
        <Button type="submit" icon="search" disabled={busy || !text.trim()}>{t('kb.search')}</Button>
      </form>
      <Trouble error={error} />
      {found && (found.hits.length ? (
        <ol>{found.hits.map((h) => (
          <li><Tile of={h.path ?? ''} /><div><strong>{h.title || host(h.path ?? '')}</strong><span class="meta"><span>{host(h.path ?? '')}</span>{h.headings && h.headings.length > 0 && <span>{h.headings.join(' › ')}</span>}</span><p class="quoted">{h.text}</p></div></li>
        ))}</ol>
      ) : <Empty title={t('kb.nothing')} />)}
    </section>
  );
}
