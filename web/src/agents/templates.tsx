// Templates of agents: their versions, and how these differ.

import { useState } from 'preact/hooks';
import { ago, clock, count, format, t, word } from '../i18n';
import { go } from '../router';
import { Button, Empty, Field, Icon, Spinner, Trouble, typed, useAction, useLoaded } from '../ui';
import { fleet, type Template, type Version } from './api';
import { Say, templatePath } from './screen';

export function Templates({ may }: { may: boolean }) {
  const list = useLoaded((signal) => fleet.templates(signal), []);
  return (
    <section aria-labelledby="templates">
      <h2 id="templates">{t('agents.templates')}</h2>
      {list.error ? <Trouble error={list.error} again={list.again} /> : !list.value ? <Spinner /> : !list.value.length ? <Empty title={t('agents.templates.none')}>{t('agents.templates.hint')}</Empty> : (
        <ul class="runs">{list.value.map((x) => (
          <li key={x.name}><a href={templatePath(x.name)} data-go><strong>{x.name}</strong><span class="meta"><Published template={x} /><span>{count('versions', x.latest)}</span><span>{ago(x.updated)}</span></span></a></li>
        ))}</ul>
      )}
      {may && <details class="more"><summary><Icon name="plus" />{t('agents.new')}</summary><Editor document={'base_class: SGRAgent\ndescription: \ntools: [web_search_tool, final_answer_tool]\n'} saved={(name) => go(templatePath(name))} /></details>}
    </section>
  );
}

const Published = ({ template: x }: { template: Template }) => (
  <span class={'tag' + (x.published ? ' finish' : '')}>{x.deprecated ? t('version.deprecated') : x.published ? t('agents.published', { n: x.published }) : t('version.draft')}</span>
);

/** Editor saves a document as a new template, or as the next version of one. */
function Editor({ name, document, saved }: { name?: string; document: string; saved: (name: string) => void }) {
  const [called, call] = useState(name ?? '');
  const [text, set] = useState(document);
  const [note, setNote] = useState('');
  const { busy, error, act } = useAction();
  return (
    <form class="fields" onSubmit={async (e) => (e.preventDefault(), (await act(() => fleet.save(called.trim(), text, note.trim()))) && saved(called.trim()))}>
      {!name && <Field label={t('agents.name')}><input value={called} required onInput={typed(call)} /></Field>}
      <Field label={t('agents.document')}><textarea class="code" rows={10} spellcheck={false} value={text} onInput={typed(set)} /></Field>
      <Field label={t('agents.note')}><input value={note} onInput={typed(setNote)} /></Field>
      <Trouble error={error} />
      <p><Button type="submit" tone="main" disabled={busy || !called.trim() || !text.trim()}>{t('agents.save')}</Button></p>
    </form>
  );
}

export function TemplateScreen({ name, may }: { name: string; may: (scope: string) => boolean }) {
  const loaded = useLoaded((signal) => fleet.template(name, signal), [name]);
  const stats = useLoaded((signal) => fleet.stats(name, signal), [name]);
  const { busy, error, act } = useAction();
  const x = loaded.value;
  const versions = [...(x?.versions ?? [])].sort((a, b) => b.version - a.version);
  const mark = async (what: 'publish' | 'deprecate', n: number) => (await act(() => fleet.mark(name, what, n))) && loaded.again();
  return (
    <>
      <h1>{name}</h1>
      {loaded.error ? <Trouble error={loaded.error} again={loaded.again} /> : !x ? <Spinner /> : (
        <>
          <p class="meta"><Published template={x} /><span>{ago(x.updated)}</span></p>
          {may('run') && <Say to={{ agent: name }} />}
          <section aria-labelledby="versions">
            <h2 id="versions">{t('agents.versions')}</h2>
            <ul class="cards">{versions.map((v) => {
              const done = stats.value?.find((s) => s.version === v.version);
              return (
                <li key={v.version}>
                  <div class="row">
                    <div><strong>{t('agents.version', { n: v.version })}</strong> <span class={'tag' + (v.version === x.published ? ' finish' : '')}>{word('version', v.version === x.published ? 'published' : v.state)}</span>
                      <p class="meta"><span>{ago(v.created)}</span>{v.author && <span>{v.author}</span>}{done && <><span>{count('runs', done.runs)}</span><span>{clock(done.time.p50 / 1e6)}</span><span>{count('tokens', done.tokens.p50)}</span></>}</p>
                      {v.note && <p>{v.note}</p>}
                    </div>
                    {may('agents') && <span class="controls">
                      {v.version !== x.published && <Button small disabled={busy} onClick={() => mark('publish', v.version)}>{t('agents.publish')}</Button>}
                      {v.state !== 'deprecated' && <Button small tone="quiet" disabled={busy} onClick={() => mark('deprecate', v.version)}>{t('agents.deprecate')}</Button>}
                    </span>}
                  </div>
                </li>
              );
            })}</ul>
            <Trouble error={error} />
          </section>
          {versions.length > 0 && <Documents key={x.latest} name={name} versions={versions} />}
          {may('agents') && versions.length > 0 && <Next key={'next' + x.latest} name={name} latest={x.latest} saved={loaded.again} />}
          {may('agents') && <p><Button tone="danger" icon="trash" disabled={busy} onClick={async () => confirm(t('library.delete.sure', { title: name })) && (await act(() => fleet.forget(name))) && go('/fleet')}>{t('agents.delete')}</Button></p>}
        </>
      )}
    </>
  );
}

function Next({ name, latest, saved }: { name: string; latest: number; saved: () => void }) {
  const now = useLoaded((signal) => fleet.version(name, latest, signal), [name, latest]);
  return <details class="more"><summary><Icon name="plus" />{t('agents.next')}</summary>{now.value && <Editor name={name} document={now.value.document ?? ''} saved={saved} />}</details>;
}

/** Documents shows one version, or how it differs from another. */
function Documents({ name, versions }: { name: string; versions: Version[] }) {
  const [to, setTo] = useState(versions[0].version);
  const [from, setFrom] = useState(versions[1]?.version ?? 0);
  const shown = useLoaded(async (signal) => (from && from !== to ? { diff: await fleet.diff(name, from, to, signal) } : { text: (await fleet.version(name, to, signal)).document ?? '' }), [name, from, to]);
  const choose = (label: string, value: number, set: (n: number) => void, none?: string) => (
    <Field label={label}><select value={value} onChange={(e) => set(Number(e.currentTarget.value))}>{none && <option value={0}>{none}</option>}{versions.map((v) => <option value={v.version}>{t('agents.version', { n: v.version })}</option>)}</select></Field>
  );
  return (
    <section aria-labelledby="document">
      <h2 id="document">{t('agents.document')}</h2>
      <div class="filters">{choose(t('agents.shown'), to, setTo)}{choose(t('agents.compared'), from, setFrom, t('agents.compared.none'))}</div>
      {shown.error ? <Trouble error={shown.error} again={shown.again} /> : !shown.value ? <Spinner /> : 'diff' in shown.value ? <Diff text={shown.value.diff ?? ''} /> : <pre class="code" tabIndex={0}>{shown.value.text}</pre>}
    </section>
  );
}

function Diff({ text }: { text: string }) {
  if (!text) return <Empty title={t('agents.same')} />;
  const lines = text.replace(/\n$/, '').split('\n').slice(2); // what is compared stands above
  const signs: Record<string, string> = { '+': 'add', '-': 'cut', '@': 'at' };
  return (
    <>
      <p class="hint">{t('agents.changed', { added: format(lines.filter((l) => l[0] === '+').length), cut: format(lines.filter((l) => l[0] === '-').length) })}</p>
      <pre class="code diff" tabIndex={0}>{lines.map((line) => <span class={signs[line[0]]}>{line + '\n'}</span>)}</pre>
    </>
  );
}
