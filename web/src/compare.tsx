// Two reports side by side: what went, what came, what is said in other words.

import { api, request } from './api';
import { ago, t } from './i18n';
import { runPath } from './router';
import { Empty, Icon, Spinner, Trouble, useLoaded } from './ui';

interface Name {
  uri: string;
  name: string;
}

interface Changes {
  new?: string[];
  gone?: string[];
  changed?: { before: string; after: string }[];
  new_sources?: Name[];
  gone_sources?: Name[];
  changed_sources?: Name[];
}

export function Compare({ before, after }: { before: string; after: string }) {
  const loaded = useLoaded(async () => {
    const [a, b] = await Promise.all([api.record(before), api.record(after)]);
    const [old, now] = a.created <= b.created ? [a, b] : [b, a];
    const said: { changes?: Changes } = await (await request('GET', `/api/runs/${encodeURIComponent(now.id)}/changes?since=${encodeURIComponent(old.id)}`)).json();
    return { old, now, changes: said.changes ?? {} };
  }, [before, after]);
  const back = <a class="back" href="/library" data-go><Icon name="back" />{t('compare.back')}</a>;
  if (!loaded.value) return <main class="narrow" id="main">{back}{loaded.error ? <Trouble error={loaded.error} again={loaded.again} /> : <Spinner />}</main>;
  const { old, now, changes: c } = loaded.value;
  const none = !Object.values(c).some((x) => Array.isArray(x) && x.length);
  const names = (list?: Name[]) => (list ?? []).map((s) => s.name);
  return (
    <main class="compare" id="main">
      {back}
      <h1>{t('compare.title')}</h1>
      <div class="sides heads">
        {[old, now].map((r, i) => <div><small>{i ? t('compare.after') : t('compare.before')}</small><a href={runPath(r.id)} data-go>{r.title}</a><span class="meta">{ago(r.created)}</span></div>)}
      </div>
      {none && <Empty title={t('compare.same')} />}
      <Part title={t('compare.sources')} gone={names(c.gone_sources)} come={names(c.new_sources)} />
      {!!c.changed_sources?.length && <section><h2>{t('compare.reread')}</h2><ul class="sentences">{names(c.changed_sources).map((x) => <li>{x}</li>)}</ul></section>}
      {!!c.changed?.length && (
        <section>
          <h2>{t('compare.changed')}</h2>
          {c.changed.map((x) => <div class="sides pair"><p>{x.before}</p><p>{x.after}</p></div>)}
        </section>
      )}
      <Part title={t('compare.sentences')} gone={c.gone} come={c.new} />
    </main>
  );
}

function Part({ title, gone, come }: { title: string; gone?: string[]; come?: string[] }) {
  if (!gone?.length && !come?.length) return null;
  return (
    <section>
      <h2>{title}</h2>
      <div class="sides">
        {[gone, come].map((list, i) => (
          <div class={i ? 'come' : 'gone'}>
            <h3>{i ? t('compare.come') : t('compare.gone')} <small>{list?.length ?? 0}</small></h3>
            {list?.length ? <ul class="sentences">{list.map((x) => <li>{x}</li>)}</ul> : <p class="hint">{t('compare.nothing')}</p>}
          </div>
        ))}
      </div>
    </section>
  );
}
