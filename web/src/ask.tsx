// The first screen: what do you want to know, and how thoroughly.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Abilities, type Ask as Asked, type Collection, type Limits, type RunRecord } from './api';
import { clock, count, format, money, t, type Key } from './i18n';
import { go, runPath, talkPath } from './router';
import { modes, RunList } from './runs';
import { Button, Field, Icon, Spinner, Trouble, typed, useAction, useLoaded } from './ui';

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
  const recent = useLoaded((signal) => api.runs({ limit: '40' }, signal).then((l) => l.filter((r) => r.mode !== 'ingest').sort((a, b) => Number(live(b)) - Number(live(a))).slice(0, 12)), []);
  const listed = recent.value?.some(live);
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
        {recent.value ? <RunList runs={recent.value} empty={t('ask.recent.empty')} /> : recent.error && !abilities.error ? <Trouble error={recent.error} again={recent.again} /> : <Spinner />}
        {recent.value && recent.value.length >= 12 && <p><a href="/library" data-go>{t('ask.all')}</a></p>}
      </section>
    </main>
  );
}

const live = (r: RunRecord) => r.status === 'running' || r.status === 'queued' || r.status === 'waiting';

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
  const [limits, setLimits] = useState<Bounds>({});
  const [thorough, setThorough] = remember<boolean>('thorough', false);
  const collections = useLoaded(() => api.collections(), []);
  const { busy, error, act } = useAction();
  const chosen = known.includes(mode as any) && (mode !== 'chat' || written) ? mode : known.find((m) => m !== 'chat') ?? known[0];
  const asked = chosen === 'deep_search' && thorough ? 'quality' : chosen;
  const lists = collections.value?.collections ?? [];
  const tags = [...new Set(lists.flatMap((c) => c.tags ?? []))].sort();
  const places = where.filter((w) => w === WEB || lists.some((c) => c.name === w));

  const used = engines.filter((e) => abilities.engines.includes(e));
  const nowhere = !abilities.engines.length && !!collections.value && !lists.length;

  const start = () =>
    act(async () => {
      const rec = await api.start(requested({ mode: asked, question, model, review, engines: used, places, limits }));
      go(chosen === 'chat' ? talkPath(rec.session) : runPath(rec.id));
    });
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);

  return (
    <form onSubmit={(e) => (e.preventDefault(), question.trim() && !busy && start())}>
      <div class="question">
        <label class="hidden" for="question">{t('ask.title')}</label>
        <textarea id="question" ref={box} rows={3} value={question} placeholder={t('ask.placeholder')} onInput={typed(setQuestion)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
              e.preventDefault();
              e.currentTarget.form!.requestSubmit();
            }
          }} />
        <div class="row">
          <Engine abilities={abilities} model={model.trim()} />
          <Button type="submit" tone="main" icon="send" disabled={busy || !question.trim()}>{t('ask.start')}</Button>
        </div>
      </div>
      <Trouble error={error} />

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

      <Trouble error={collections.error} again={collections.again} />
      {chosen !== 'chat' && nowhere && <p class="notice"><Icon name="warn" /><a href="/knowledge" data-go>{t('ask.where.none')}</a></p>}
      {chosen !== 'chat' && !nowhere && (
        <fieldset class="chips">
          <legend>{t('ask.where')}</legend>
          <Chip on={!places.length} change={() => setWhere([])}>{t('ask.where.auto')}</Chip>
          {abilities.engines.length > 0 && <Chip on={places.includes(WEB)} change={() => setWhere(toggled(places, WEB))}>{t('ask.where.web')}</Chip>}
          {lists.filter((c) => !c.auto || places.includes(c.name)).map((c) => (
            <Chip on={places.includes(c.name)} change={() => setWhere(toggled(places, c.name))}>{shortName(c)} <small>{format(c.documents)}</small></Chip>
          ))}
          {tags.map((tag) => {
            const of = lists.filter((c) => c.tags?.includes(tag)).map((c) => c.name);
            const on = of.every((n) => places.includes(n));
            return <Chip on={on} change={() => setWhere(on ? places.filter((p) => !of.includes(p)) : [...new Set([...places, ...of])])}>#{tag} <small>{format(of.length)}</small></Chip>;
          })}
        </fieldset>
      )}

      <Estimate key={asked} mode={asked} limits={bounds(limits)} />

      <details class="more">
        <summary><Icon name="sliders" />{t('ask.settings')}</summary>
        <div class="fields">
          {chosen === 'deep_research' && (
            <label class="tick"><input type="checkbox" checked={review} onChange={(e) => setReview(e.currentTarget.checked)} /> {t('ask.review')}</label>
          )}
          {chosen === 'deep_search' && (
            <label class="tick"><input type="checkbox" checked={thorough} onChange={(e) => setThorough(e.currentTarget.checked)} /> {t('ask.thorough')}</label>
          )}
          {chosen !== 'chat' && (!places.length || places.includes(WEB)) && abilities.engines.length > 1 && (
            <fieldset class="chips">
              <legend>{t('ask.engines')}</legend>
              {abilities.engines.map((e) => <Chip on={used.includes(e)} change={() => (setEngines(toggled(used, e)), places.length || setWhere([WEB]))}>{e}</Chip>)}
            </fieldset>
          )}
          {written && (
            <Field label={t('ask.model')}><input list="models" value={model} placeholder={abilities.models[0]?.model} onInput={typed(setModel)} />
              <datalist id="models">{[...new Set(abilities.models.map((m) => m.model))].map((m) => <option value={m} />)}</datalist></Field>
          )}
          <div class="three">
            {(written ? ['cost', 'time', 'tokens', 'searches', 'pages'] as const : ['time', 'searches', 'pages'] as const).filter((w) => chosen !== 'chat' || (w !== 'searches' && w !== 'pages')).map((what) => (
              <Field label={t(`bound.${what}` as Key)}>
                <input type="number" min="0" step="any" inputMode="decimal" value={limits[what] ?? ''} placeholder={abilities.limits?.[what] ? String(abilities.limits[what]! / (what === 'time' ? 60e9 : 1)) : t('ask.limit.none')}
                  onInput={(e) => setLimits({ ...limits, [what]: e.currentTarget.value })} />
              </Field>
            ))}
          </div>
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

/** Bounds are limits as they are typed in, time in minutes. */
type Bounds = { [what in keyof Limits]?: string };

function bounds(typed: Bounds): Limits {
  const limits: Limits = {};
  for (const [what, value] of Object.entries(typed) as [keyof Limits, string][]) {
    const n = Number(value);
    if (n > 0) limits[what] = what === 'cost' ? n : Math.max(1, Math.round(what === 'time' ? n * 60e9 : n));
  }
  return limits;
}

/** requested is what the form asks the server for. */
function requested(f: { mode: string; question: string; model: string; review: boolean; engines: string[]; places: string[]; limits: Bounds }): Asked {
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
  const limits = bounds(f.limits);
  if (Object.keys(limits).length) ask.limits = limits;
  return ask;
}

/** Engine says honestly who will answer. */
function Engine({ abilities, model }: { abilities: Abilities; model: string }) {
  const named = abilities.models.find((m) => m.role === 'default') ?? abilities.models[0];
  return named
    ? <span class="engine"><i class="dot" aria-hidden="true" />{model || named.model}</span>
    : <span class="engine none" title={t('engine.none.hint')}><i class="dot" aria-hidden="true" />{t('engine.none')}</span>;
}

/** Estimate says what to expect, of runs of this kind so far, and whether the limits allow it. */
function Estimate({ mode, limits }: { mode: string; limits: Limits }) {
  const past = useLoaded((signal) => api.runs({ mode, status: 'done', limit: '20' }, signal), []);
  if (!past.value) return null;
  if (!past.value.length) return <p class="hint estimate">{t('ask.estimate.none', { expect: t(`mode.${mode}.expect` as Key) })}</p>;
  const middle = (of: (r: RunRecord) => number) => past.value!.map(of).sort((a, b) => a - b)[Math.floor(past.value!.length / 2)];
  const spent: Limits = {
    time: middle((r) => r.active), cost: middle((r) => r.spent?.cost ?? 0), tokens: middle((r) => (r.spent?.input_tokens ?? 0) + (r.spent?.output_tokens ?? 0)),
    searches: middle((r) => r.spent?.searches ?? 0), pages: middle((r) => r.spent?.pages ?? 0),
  };
  const over = (Object.keys(limits) as (keyof Limits)[]).find((what) => spent[what]! > limits[what]!);
  return (
    <p class="hint estimate">
      {[
        t('ask.estimate', { runs: count('runs', past.value.length), time: clock(spent.time! / 1e6) }), spent.pages && count('read', spent.pages),
        spent.tokens && count('tokens', spent.tokens), spent.cost && money(spent.cost),
      ].filter(Boolean).join(' · ')}
      {over && <strong> {t('ask.estimate.over', { what: t(`limit.${over}` as Key) })}</strong>}
    </p>
  );
}
