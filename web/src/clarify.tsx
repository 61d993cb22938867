// What a run asks before it goes on: a question, or the plan to look at.

import { useState } from 'preact/hooks';
import { api } from './api';
import type { Ask, State } from './fold';
import { t, word } from './i18n';
import { Button, Icon, Trouble, typed, useAction } from './ui';

export function Clarify({ run, ask, state }: { run: string; ask: Ask; state: State }) {
  const plan = readPlan(ask.questions[0] ?? '');
  return plan && state.plan ? <PlanCard run={run} ask={ask} plan={plan} /> : <Question run={run} ask={ask} begun={state.agents.length > 0 || state.searches.length > 0} />;
}

function Question({ run, ask, begun }: { run: string; ask: Ask; begun: boolean }) {
  const [text, set] = useState('');
  const { busy, error, act } = useAction();
  const answer = (said: string) => act(() => api.answer(run, ask.id, said));
  return (
    <section class="card asks" aria-labelledby="asks">
      <h2 id="asks">{begun ? t('clarify.midway') : t('clarify.title')}</h2>
      {ask.reason && <p class="hint">{word('why', ask.reason)}</p>}
      {ask.questions.map((q) => <p class="asked">{q}</p>)}
      <form onSubmit={(e) => (e.preventDefault(), text.trim() && answer(text.trim()))}>
        {ask.options.length > 0 && <div class="options">{ask.options.map((o) => <Button disabled={busy} onClick={() => answer(o)}>{word('option', o)}</Button>)}</div>}
        <label><span class="hidden">{t('clarify.label')}</span>
          <textarea rows={2} value={text} placeholder={t('clarify.label')} onInput={typed(set)}
            onKeyDown={(e) => e.key === 'Enter' && !e.shiftKey && !e.isComposing && (e.preventDefault(), e.currentTarget.form!.requestSubmit())} />
        </label>
        <div class="row">
          <Button tone="quiet" disabled={busy} onClick={() => answer('skip')}>{begun ? t('clarify.go') : t('clarify.skip')}</Button>
          <Button type="submit" tone="main" disabled={busy || !text.trim()}>{t('clarify.answer')}</Button>
        </div>
      </form>
      <Trouble error={error} />
    </section>
  );
}

interface Part {
  title: string;
  about: string;
  queries: string;
}

interface Draft {
  title: string;
  parts: Part[];
}

/** readPlan reads a plan in the form in which a run shows it; null where it is none. */
export function readPlan(text: string): Draft | null {
  const plan: Draft = { title: '', parts: [] };
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const last = plan.parts[plan.parts.length - 1];
    if (line.startsWith('## ')) plan.parts.push({ title: line.slice(3), about: '', queries: '' });
    else if (line.startsWith('# ')) plan.title = line.slice(2);
    else if (line.startsWith('- ') && last) last.queries += (last.queries ? '\n' : '') + line.slice(2);
    else if (line && last && !last.about && !last.queries) last.about = line;
  }
  return plan.parts.length ? plan : null;
}

/** planText is a plan as a run reads it. */
export function planText(p: Draft): string {
  const parts = p.parts.filter((x) => x.title.trim()).map((x) => {
    const queries = x.queries.split('\n').map((q) => q.trim()).filter(Boolean).map((q) => `- ${q}\n`).join('');
    return `\n## ${x.title.trim()}\n${x.about ? x.about + '\n' : ''}${queries}`;
  });
  return `# ${p.title}\n${parts.join('')}`;
}

function PlanCard({ run, ask, plan }: { run: string; ask: Ask; plan: Draft }) {
  // The last lines of the question tell how to answer in words: they are no part of the plan.
  const tail = plan.parts[plan.parts.length - 1];
  const hint = ask.questions[0].trim().split('\n').pop() ?? '';
  const [parts, set] = useState<Part[]>(() => plan.parts.map((p) => (p === tail && p.about === hint ? { ...p, about: '' } : p)));
  const [changed, setChanged] = useState(false);
  const { busy, error, act } = useAction();
  const edit = (next: Part[]) => (set(next), setChanged(true));
  const start = () => act(() => api.answer(run, ask.id, changed ? planText({ title: plan.title, parts }) : ask.options[0] || 'start'));
  const fine = parts.some((p) => p.title.trim());
  return (
    <section class="card plan" aria-labelledby="plan">
      <h2 id="plan">{t('plan.title')}</h2>
      <p class="hint">{t('plan.hint')}</p>
      <ol>
        {parts.map((p, i) => (
          <li>
            <div>
              <label><span class="hidden">{t('plan.part', { n: i + 1 })}</span>
                <input value={p.title} onInput={(e) => edit(parts.map((x, k) => (k === i ? { ...x, title: e.currentTarget.value } : x)))} />
              </label>
              {(p.queries || p.about) && (
                <label><span class="hidden">{t('plan.queries', { n: i + 1 })}</span>
                  <textarea rows={Math.max(1, p.queries.split('\n').length)} value={p.queries} onInput={(e) => edit(parts.map((x, k) => (k === i ? { ...x, queries: e.currentTarget.value } : x)))} />
                </label>
              )}
            </div>
            <Button tone="quiet" small icon="close" disabled={parts.length < 2} aria-label={t('plan.drop', { n: i + 1 })} onClick={() => edit(parts.filter((_, k) => k !== i))} />
          </li>
        ))}
      </ol>
      <div class="row">
        <Button tone="quiet" icon="plus" onClick={() => edit([...parts, { title: '', about: '', queries: '' }])}>{t('plan.add')}</Button>
        <Button tone="main" disabled={busy || !fine} onClick={start}>{changed ? t('plan.start.changed') : t('plan.start')}</Button>
      </div>
      <Trouble error={error} />
    </section>
  );
}

/** Settled shows what was asked and answered before. */
export function Settled({ asks }: { asks: Ask[] }) {
  const over = asks.filter((a) => (a.answer !== undefined || a.skipped) && !readPlan(a.questions[0] ?? ''));
  if (!over.length) return null;
  return (
    <dl class="settled">
      {over.map((a) => <><dt>{a.questions.join(' ')}</dt><dd>{a.skipped || !a.answer || a.answer === 'skip' ? <em>{t('clarify.skipped')}</em> : <><Icon name="check" /> {a.answer}</>}</dd></>)}
    </dl>
  );
}
