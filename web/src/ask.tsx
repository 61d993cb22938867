// The first screen: what do you want to know, and how thoroughly.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Abilities, type Ask as Asked, type Collection, type Limits, type RunRecord } from './api';
import { clock, count, format, money, t, type Key } from './i18n';
import { go, runPath, talkPath } from './router';
import { modes, RunList } from './runs';
import { Button, Icon, Spinner, Trouble, useAction, useLoaded } from './ui';

/** remember keeps a choice of the user for the next time. */
function remember<T>(name: string, initial: T): [T, (v: T) => void] {
  const key = 'dossier.ask.' + name;
  const [value, set] = useState<T>(() => {
    try {
      return JSON.parse(localStorage.getItem(key) ?? '') as T;
    } catch {
      return initial;
    }
  });
  return [value, (v) => {
    set(v);
    try {
      localStorage.setItem(key, JSON.stringify(v));
    } catch {
      // for this time
    }
  }];
}

export function AskScreen() {
  const abilities = useLoaded(() => api.abilities(), []);
  const recent = useLoaded((signal) => api.runs({ limit: '12' }, signal), []);
  const listed = recent.value?.some((r) => r.status === 'running' || r.status === 'queued' || r.status === 'waiting');
  useEffect(() => {
    if (!listed) return;
    const timer = setInterval(recent.again, 4000);
    return () => clearInterval(timer);
  }, [listed]);
  return (
    <main class="narrow ask" id="main">
      <h1>{t('ask.title')}</h1>
      {abilities.error ? <Trouble error={abilities.error} again={abilities.again} /> : !abilities.value ? <Spinner /> : <Form abilities={abilities.value} />}
      <section aria-labelledby="recent">
        <h2 id="recent">{t('ask.recent')}</h2>
        {recent.value ? <RunList runs={recent.value} empty={t('ask.recent.empty')} /> : recent.error ? null : <Spinner />}
        {recent.value && recent.value.length >= 12 && <p><a href="/library" data-go>{t('ask.all')}</a></p>}
      </section>
    </main>
  );
}

const WEB = '\u0000web';

function Form({ abilities }: { abilities: Abilities }) {
  const has = (role: string) => abilities.models.some((m) => m.role === role);
  const written = has('default') || has('chat');
  const known = modes.filter((m) => abilities.modes.includes(m));
  const [mode, setMode] = remember<string>('mode', 'web_search');
  const [where, setWhere] = remember<string[]>('where', []);
  const [engines, setEngines] = remember<string[]>('engines', []);
  const [review, setReview] = remember<boolean>('review', true);
  const [question, setQuestion] = useState('');
  const [model, setModel] = useState('');
  const [limits, setLimits] = useState<{ cost?: string; minutes?: string; tokens?: string }>({});
  const collections = useLoaded(() => api.collections(), []);
  const { busy, error, act } = useAction();
  const chosen = known.includes(mode as any) && (mode !== 'chat' || written) ? mode : known.find((m) => m !== 'chat') ?? known[0];
  const lists = collections.value?.collections ?? [];
  const places = where.filter((w) => w === WEB || lists.some((c) => c.name === w));

  const start = () =>
    act(async () => {
      const rec = await api.start(requested({ mode: chosen, question, model, review, engines, places, limits }));
      go(chosen === 'chat' ? talkPath(rec.session) : runPath(rec.id));
    });
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);

  return (
    <form onSubmit={(e) => (e.preventDefault(), question.trim() && !busy && start())}>
      <div class="question">
        <label class="hidden" for="question">{t('ask.title')}</label>
        <textarea id="question" ref={box} rows={3} value={question} placeholder={t('ask.placeholder')} onInput={(e) => setQuestion(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
              e.preventDefault();
              e.currentTarget.form!.requestSubmit();
            }
          }} />
        <div class="row">
          <Engine abilities={abilities} />
          <Button type="submit" tone="main" icon="send" disabled={busy || !question.trim()}>{t('ask.start')}</Button>
        </div>
      </div>
      {error ? <Trouble error={error} /> : null}

      <fieldset class="modes">
        <legend class="hidden">{t('ask.mode')}</legend>
        {known.map((m) => (
          <label class={'mode' + (m === chosen ? ' on' : '')}>
            <input type="radio" name="mode" value={m} checked={m === chosen} disabled={m === 'chat' && !written} onChange={() => setMode(m)} />
            <strong>{t(`mode.${m}` as Key)}</strong>
            <span>{m === 'chat' && !written ? t('mode.chat.none') : t(`mode.${m}.expect` as Key)}</span>
          </label>
        ))}
      </fieldset>

      {chosen !== 'chat' && (
        <fieldset class="chips">
          <legend>{t('ask.where')}</legend>
          <Chip on={!places.length} change={() => setWhere([])}>{t('ask.where.auto')}</Chip>
          {abilities.engines.length > 0 && <Chip on={places.includes(WEB)} change={() => setWhere(toggled(places, WEB))}>{t('ask.where.web')}</Chip>}
          {lists.filter((c) => !c.auto || places.includes(c.name)).map((c) => (
            <Chip on={places.includes(c.name)} change={() => setWhere(toggled(places, c.name))}>{shortName(c)} <small>{format(c.documents)}</small></Chip>
          ))}
        </fieldset>
      )}

      <details class="more">
        <summary><Icon name="sliders" />{t('ask.settings')}</summary>
        <div class="fields">
          {chosen === 'deep_research' && (
            <label class="tick"><input type="checkbox" checked={review} onChange={(e) => setReview(e.currentTarget.checked)} /> {t('ask.review')}</label>
          )}
          {places.includes(WEB) && abilities.engines.length > 1 && (
            <fieldset class="chips">
              <legend>{t('ask.engines')}</legend>
              {abilities.engines.map((e) => <Chip on={engines.includes(e)} change={() => setEngines(toggled(engines, e))}>{e}</Chip>)}
            </fieldset>
          )}
          {written && (
            <label class="field"><span>{t('ask.model')}</span><input value={model} placeholder={abilities.models[0]?.model} onInput={(e) => setModel(e.currentTarget.value)} /></label>
          )}
          <div class="three">
            <Limit label={t('ask.limit.cost')} value={limits.cost} change={(cost) => setLimits({ ...limits, cost })} />
            <Limit label={t('ask.limit.minutes')} value={limits.minutes} change={(minutes) => setLimits({ ...limits, minutes })} />
            <Limit label={t('ask.limit.tokens')} value={limits.tokens} change={(tokens) => setLimits({ ...limits, tokens })} />
          </div>
          <Estimate mode={chosen} />
        </div>
      </details>
    </form>
  );
}

const toggled = (list: string[], x: string) => (list.includes(x) ? list.filter((y) => y !== x) : [...list, x]);
const shortName = (c: Collection) => (c.auto ? c.name.split('/').pop() || c.name : c.name);

function Chip({ on, change, children }: { on: boolean; change: () => void; children: preact.ComponentChildren }) {
  return <label class={'chip' + (on ? ' on' : '')}><input type="checkbox" checked={on} onChange={change} />{children}</label>;
}

function Limit({ label, value, change }: { label: string; value?: string; change: (v: string) => void }) {
  return <label class="field"><span>{label}</span><input type="number" min="0" step="any" inputMode="decimal" value={value ?? ''} onInput={(e) => change(e.currentTarget.value)} /></label>;
}

/** requested is what the form asks the server for. */
function requested(f: { mode: string; question: string; model: string; review: boolean; engines: string[]; places: string[]; limits: { cost?: string; minutes?: string; tokens?: string } }): Asked {
  const ask: Asked = { mode: f.mode, question: f.question.trim() };
  if (f.model.trim()) ask.model = f.model.trim();
  if (f.mode === 'deep_research') ask.plan = f.review ? 'edit' : 'auto';
  if (f.mode !== 'chat' && f.places.length) {
    const [first, ...rest] = f.places.filter((p) => p !== WEB);
    ask.in = {};
    if (first) ask.in.collection = first;
    if (rest.length) ask.in.also = rest.map((collection) => ({ collection }));
    if (f.places.includes(WEB)) ask.in.web = f.engines.length ? { engines: f.engines } : {};
  }
  const limits: Limits = {};
  if (Number(f.limits.cost) > 0) limits.cost = Number(f.limits.cost);
  if (Number(f.limits.minutes) > 0) limits.time = Math.round(Number(f.limits.minutes) * 60e9);
  if (Number(f.limits.tokens) > 0) limits.tokens = Math.round(Number(f.limits.tokens));
  if (Object.keys(limits).length) ask.limits = limits;
  return ask;
}

/** Engine says honestly who will answer. */
export function Engine({ abilities }: { abilities: Abilities }) {
  const named = abilities.models.find((m) => m.role === 'default') ?? abilities.models[0];
  return named
    ? <span class="engine"><i class="dot" aria-hidden="true" />{named.model}</span>
    : <span class="engine none" title={t('engine.none.hint')}><i class="dot" aria-hidden="true" />{t('engine.none')}</span>;
}

/** Estimate says what runs of this kind took so far. */
function Estimate({ mode }: { mode: string }) {
  const past = useLoaded((signal) => api.runs({ mode, status: 'done', limit: '20' }, signal), [mode]);
  if (!past.value) return null;
  if (!past.value.length) return <p class="hint">{t('ask.estimate.none')}</p>;
  const middle = (of: (r: RunRecord) => number) => past.value!.map(of).sort((a, b) => a - b)[Math.floor(past.value!.length / 2)];
  const cost = middle((r) => r.spent?.cost ?? 0);
  return (
    <p class="hint">
      {t('ask.estimate', {
        runs: count('runs', past.value.length), time: clock(middle((r) => r.active / 1e6)),
        tokens: format(middle((r) => (r.spent?.input_tokens ?? 0) + (r.spent?.output_tokens ?? 0))),
      })}
      {cost > 0 && ' · ' + money(cost)}
    </p>
  );
}
