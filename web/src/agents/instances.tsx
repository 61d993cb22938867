// Instances: long-lived agents with slots and a queue.

import { useEffect, useState } from 'preact/hooks';
import { ago, count, format, t, word } from '../i18n';
import { go } from '../router';
import { Button, Empty, Field, Icon, Spinner, Trouble, useAction, useLoaded } from '../ui';
import { fleet, type Instance } from './api';
import { Say, instancePath, templatePath } from './screen';

const tones: Record<string, string> = { ready: 'done', busy: 'running', draining: 'waiting' };
const State = ({ of }: { of: string }) => <span class={'pill ' + (tones[of] ?? '')}>{word('instance', of)}</span>;

const atWork = /^(busy|draining|starting)$/;

/** useAgain looks again while something goes on. */
function useAgain(moving: boolean | undefined, again: () => void) {
  useEffect(() => {
    if (!moving) return;
    const timer = setInterval(again, 2000);
    return () => clearInterval(timer);
  }, [moving]);
}

export function Instances({ may }: { may: boolean }) {
  const list = useLoaded((signal) => fleet.instances(signal), []);
  useAgain(list.value?.some((i) => atWork.test(i.state)), list.again);
  return (
    <section aria-labelledby="instances">
      <h2 id="instances">{t('agents.instances')}</h2>
      {list.error ? <Trouble error={list.error} again={list.again} /> : !list.value ? <Spinner /> : !list.value.length ? <Empty title={t('agents.instances.none')}>{t('agents.instances.hint')}</Empty> : (
        <ul class="runs">{list.value.map((i) => (
          <li key={i.id}><a href={instancePath(i.id)} data-go><strong>{i.name}</strong><span class="meta"><State of={i.state} /><Queue of={i} /><span>{i.template}</span><span>{count('runs', i.served)}</span>{i.last_used && <span>{ago(i.last_used)}</span>}</span></a></li>
        ))}</ul>
      )}
      {may && <details class="more"><summary><Icon name="plus" />{t('agents.make')}</summary><Make /></details>}
    </section>
  );
}

/** Queue says how much an instance at work has to do. */
function Queue({ of: i }: { of: Instance }) {
  const now = useLoaded(async (signal) => (i.state === 'busy' || i.state === 'draining' ? fleet.instance(i.id, signal) : undefined), [i]).value;
  return now ? <><span>{t('agents.running')} {format(now.running ?? 0)}/{format(i.slots)}</span><span>{t('agents.queued')} {format(now.queued ?? 0)}/{format(i.queue)}</span></> : null;
}

function Make() {
  const templates = useLoaded((signal) => fleet.templates(signal), []);
  const [made, set] = useState({ template: '', name: '', slots: 1, queue: 10 });
  const { busy, error, act } = useAction();
  const of = made.template || templates.value?.[0]?.name || '';
  const number = (label: string, key: 'slots' | 'queue', min: number) => (
    <Field label={label}><input type="number" min={min} value={made[key]} onInput={(e) => set({ ...made, [key]: Number(e.currentTarget.value) })} /></Field>
  );
  if (templates.value && !templates.value.length) return <p class="hint">{t('agents.templates.hint')}</p>;
  return (
    <form class="fields" onSubmit={(e) => (e.preventDefault(), act(async () => go(instancePath((await fleet.make({ ...made, template: of, name: made.name.trim() })).id))))}>
      <Field label={t('agents.template')}><select value={of} onChange={(e) => set({ ...made, template: e.currentTarget.value })}>{templates.value?.map((x) => <option>{x.name}</option>)}</select></Field>
      <div class="three">
        <Field label={t('agents.name')}><input value={made.name} onInput={(e) => set({ ...made, name: e.currentTarget.value })} /></Field>
        {number(t('agents.slots'), 'slots', 1)}{number(t('agents.queue'), 'queue', 0)}
      </div>
      <Trouble error={error} />
      <p><Button type="submit" tone="main" disabled={busy || !of}>{t('agents.make')}</Button></p>
    </form>
  );
}

export function InstanceScreen({ id, may }: { id: string; may: (scope: string) => boolean }) {
  const loaded = useLoaded((signal) => fleet.instance(id, signal), [id]);
  const { busy, error, act } = useAction();
  const i = loaded.value;
  const moving = !!i && atWork.test(i.state);
  useAgain(moving, loaded.again);
  if (!i) return <><h1>{id}</h1>{loaded.error ? <Trouble error={loaded.error} again={loaded.again} /> : <Spinner />}</>;
  const tell = (what: 'start' | 'drain' | 'stop') => act(() => fleet.tell(id, what)).then(loaded.again);
  const rests = i.state === 'stopped' || i.state === 'draining';
  const facts: [string, string][] = [
    [t('agents.running'), `${format(i.running ?? 0)} / ${format(i.slots)}`], [t('agents.queued'), `${format(i.queued ?? 0)} / ${format(i.queue)}`],
    [t('agents.sessions'), format(i.sessions ?? 0)], [t('agents.served'), format(i.served)],
  ];
  return (
    <>
      <h1>{i.name}</h1>
      <p class="meta"><State of={i.state} /><a href={templatePath(i.template)} data-go>{i.template}</a><span>{i.version ? t('agents.version', { n: i.version }) : t('agents.follows')}</span>{i.last_used && <span>{ago(i.last_used)}</span>}</p>
      <dl class="figures">{facts.map(([what, n]) => <div><dt>{what}</dt><dd>{n}</dd></div>)}</dl>
      {may('run') && <Say to={{ instance: i.id }} disabled={rests} />}
      {rests && <p class="hint">{t('agents.rests')}</p>}
      {may('agents') && (
        <div class="controls">
          {rests && <Button icon="play" disabled={busy} onClick={() => tell('start')}>{t('agents.start')}</Button>}
          {!rests && <Button icon="pause" disabled={busy} onClick={() => tell('drain')}>{t('agents.drain')}</Button>}
          {i.state !== 'stopped' && <Button icon="stop" disabled={busy} onClick={() => tell('stop')}>{t('agents.stop')}</Button>}
          <Button tone="danger" icon="trash" disabled={busy || moving} onClick={async () => confirm(t('library.delete.sure', { title: i.name })) && (await act(() => fleet.remove(id))) && go('/fleet')}>{t('agents.delete')}</Button>
          <Trouble error={error} />
        </div>
      )}
      {may('agents') && <Upgrade id={id} template={i.template} version={i.version ?? 0} changed={loaded.again} />}
    </>
  );
}

function Upgrade({ id, template, version, changed }: { id: string; template: string; version: number; changed: () => void }) {
  const found = useLoaded((signal) => fleet.template(template, signal), [template]);
  const { busy, error, act } = useAction();
  return (
    <>
      <Field label={t('agents.runs.of')}>
        <select value={version} disabled={busy} onChange={async (e) => { await act(() => fleet.upgrade(id, Number(e.currentTarget.value))); changed(); }}>
          <option value={0}>{t('agents.follows')}</option>{found.value?.versions?.map((v) => <option value={v.version}>{t('agents.version', { n: v.version })}</option>)}
        </select>
      </Field>
      <Trouble error={error} />
    </>
  );
}
