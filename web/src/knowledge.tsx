// Collections of documents: what is in them, what could not be read, and what a
// search finds there.

import { useState } from 'preact/hooks';
import { api, type Collection, type Found } from './api';
import { ago, count, format, t } from './i18n';
import { go } from './router';
import { Button, Empty, Icon, Spinner, Tile, Trouble, host, useAction, useLoaded } from './ui';

const path = (name: string) => '/knowledge/' + encodeURIComponent(name);

export function KnowledgeScreen({ name }: { name: string }) {
  const all = useLoaded(() => api.collections(), [name]);
  if (name) return <One key={name} name={name} used={all.value?.active === name} changed={all.again} />;
  return (
    <main class="narrow" id="main">
      <h1>{t('kb.title')}</h1>
      {all.error ? <Trouble error={all.error} again={all.again} /> : !all.value ? <Spinner /> : !all.value.collections?.length ? <Empty title={t('kb.none')}>{t('kb.add')}</Empty> : (
        <>
          <ul class="runs">{all.value.collections.map((c) => <Row key={c.id} collection={c} used={all.value!.active === c.name} />)}</ul>
          <p class="hint">{t('kb.add')}</p>
        </>
      )}
    </main>
  );
}

function Row({ collection: c, used }: { collection: Collection; used: boolean }) {
  return (
    <li>
      <a href={path(c.name)} data-go>
        <strong>{c.auto ? host(c.name) : c.name}</strong>
        <span class="meta">{used && <span class="tag finish">{t('kb.used')}</span>}<span>{count('docs', c.documents)}</span>{c.synced && <span>{ago(c.synced)}</span>}{!!c.failed && <span class="hint bad">{t('kb.failed', { n: format(c.failed) })}</span>}</span>
      </a>
    </li>
  );
}

function One({ name, used, changed }: { name: string; used: boolean; changed: () => void }) {
  const loaded = useLoaded((signal) => api.collection(name, signal), [name]);
  const { busy, error, act } = useAction();
  const c = loaded.value;
  return (
    <main class="narrow" id="main">
      <a class="back" href="/knowledge" data-go><Icon name="back" />{t('kb.title')}</a>
      <h1>{c?.auto ? host(name) : name}</h1>
      {loaded.error ? <Trouble error={loaded.error} again={loaded.again} /> : !c ? <Spinner /> : (
        <>
          <p class="meta">{used && <span class="tag finish">{t('kb.used')}</span>}<span>{count('docs', c.documents)}</span><span>{count('passages', c.chunks ?? 0)}</span>{c.synced && <span>{ago(c.synced)}</span>}</p>
          {c.roots && c.roots.length > 0 && <p class="hint">{t('kb.roots')}: {c.roots.join(', ')}</p>}
          {!!c.outdated && <p class="notice"><Icon name="warn" />{t('kb.outdated', { n: format(c.outdated) })}</p>}
          <Look name={name} />
          {c.failures && c.failures.length > 0 && (
            <section class="panel">
              <h2>{t('kb.failed', { n: format(c.failures.length) })}</h2>
              <ul class="findings">{c.failures.map((f) => <li class="bad"><Icon name="warn" /><div><strong>{host(f.path)}</strong><p class="hint">{f.why}</p></div></li>)}</ul>
            </section>
          )}
          <div class="controls">
            {!used && <Button disabled={busy} onClick={async () => (await act(() => api.use(name))) && changed()}>{t('kb.use')}</Button>}
            <Button tone="danger" icon="trash" disabled={busy} onClick={async () => confirm(t('kb.delete.sure', { name })) && (await act(() => api.drop(name))) && go('/knowledge')}>{t('kb.delete')}</Button>
          </div>
          {error ? <Trouble error={error} /> : null}
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
      <form class="filters" role="search" onSubmit={(e) => (e.preventDefault(), text.trim() && act(async () => setFound(await api.look(name, text.trim()))))}>
        <label class="find"><Icon name="search" /><span class="hidden">{t('kb.search')}</span><input type="search" value={text} onInput={(e) => set(e.currentTarget.value)} /></label>
        <Button type="submit" icon="search" disabled={busy || !text.trim()}>{t('kb.search')}</Button>
      </form>
      {error ? <Trouble error={error} /> : null}
      {found && (found.hits.length ? (
        <ol>{found.hits.map((h) => (
          <li><Tile of={h.path ?? ''} /><div><strong>{h.title || host(h.path ?? '')}</strong><span class="meta"><span>{host(h.path ?? '')}</span>{h.headings && h.headings.length > 0 && <span>{h.headings.join(' › ')}</span>}</span><p class="quoted">{h.text}</p></div></li>
        ))}</ol>
      ) : <Empty title={t('kb.nothing')} />)}
    </section>
  );
}
