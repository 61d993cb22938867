// The catalog of tools, with a form to try one that is made of its schema.

import { useState } from 'preact/hooks';
import { api } from '../api';
import { count, t, word } from '../i18n';
import { runPath } from '../router';
import { Button, Empty, Icon, Spinner, Trouble, useAction, useLoaded } from '../ui';
import { ended, fleet, type Schema, type Tool } from './api';
import { Search } from './screen';

export function Tools() {
  const [words, find] = useState('');
  const found = useLoaded((signal) => fleet.tools(words, signal), [words]);
  const list = found.value?.tools ?? [];
  return (
    <>
      <Search label={t('tools.find')} change={find} />
      {found.error ? <Trouble error={found.error} again={found.again} /> : !found.value ? <Spinner /> : !list.length ? <Empty title={t('tools.none')}>{t('agents.none.hint')}</Empty> : (
        <ul class="runs">{list.map((x) => (
          <li key={x.origin + x.name}><a href={'/fleet/tools/' + encodeURIComponent(x.name)} data-go><strong>{x.name}</strong><span class="plain">{x.description}</span><Facts tool={x} /></a></li>
        ))}</ul>
      )}
      {found.value?.trouble?.map((x) => <div class="notice"><Icon name="warn" /><div><p>{x.origin}: {x.problem}</p>{x.hint && <p class="hint">{x.hint}</p>}</div></div>)}
    </>
  );
}

const Facts = ({ tool: x }: { tool: Tool }) => (
  <span class="meta"><span class={'tag' + (x.effect === 'effectful' ? ' warn' : '')}>{word('effect', x.effect)}</span><span>{x.origin}</span>{!!x.calls && <span>{count('calls', x.calls)}</span>}{x.error && <span class="hint bad">{x.error}</span>}</span>
);

export function ToolScreen({ name, may }: { name: string; may: boolean }) {
  const found = useLoaded(async (signal) => (await fleet.tools('', signal)).tools?.find((x) => x.name === name), [name]);
  const x = found.value;
  return (
    <>
      <h1>{name}</h1>
      {found.error ? <Trouble error={found.error} again={found.again} /> : !('value' in found) ? <Spinner /> : !x ? <Empty title={t('tools.none')} /> : (
        <>
          <Facts tool={x} />
          <p class="said">{x.description}</p>
          {may ? <Try tool={x} /> : <p class="hint">{t('tools.may')}</p>}
        </>
      )}
    </>
  );
}

const types = (s: Schema) => (Array.isArray(s.type) ? s.type : s.type ? [s.type] : []);
const shape = (s: Schema): 'choice' | 'yes' | 'number' | 'text' | 'lines' | 'json' => {
  const is = types(s).filter((x) => x !== 'null')[0];
  if (s.enum) return 'choice';
  if (is === 'boolean') return 'yes';
  if (is === 'integer' || is === 'number') return 'number';
  if (is === 'string') return 'text';
  return is === 'array' && s.items && types(s.items)[0] === 'string' ? 'lines' : 'json';
};

/** read makes an argument of what stands in its field; undefined leaves it out. */
function read(s: Schema, text: string): unknown {
  if (!text.trim()) return shape(s) === 'yes' ? false : types(s).includes('null') ? null : undefined;
  switch (shape(s)) {
    case 'choice': return s.enum!.find((x) => String(x) === text);
    case 'yes': return text === 'true';
    case 'number': return Number(text);
    case 'lines': return text.split('\n').map((l) => l.trim()).filter(Boolean);
    case 'json': return JSON.parse(text);
  }
  return text;
}

function Try({ tool }: { tool: Tool }) {
  const fields = Object.entries(tool.schema?.properties ?? {});
  const [values, set] = useState<Record<string, string>>(() => Object.fromEntries(fields.filter(([, s]) => s.default !== undefined && s.default !== null).map(([k, s]) => [k, typeof s.default === 'object' ? JSON.stringify(s.default) : String(s.default)])));
  const [result, show] = useState<{ run: string; text?: string; failed?: string } | null>(null);
  const { busy, error, act } = useAction();
  const run = () =>
    act(async () => {
      show(null);
      const args: Record<string, unknown> = {};
      for (const [name, s] of fields) {
        try {
          const value = read(s, values[name] ?? '');
          if (value !== undefined) args[name] = value;
        } catch {
          throw new Error(t('tools.bad', { name }));
        }
      }
      const { id } = await fleet.ask({ mode: 'tool', agent: tool.name, question: JSON.stringify(args) });
      show({ run: id });
      const text = await ended(id, AbortSignal.timeout(120_000));
      const record = await api.record(id);
      show(record.failure ? { run: id, failed: record.failure.message } : { run: id, text });
    });
  return (
    <section class="panel" aria-labelledby="try">
      <h2 id="try">{t('tools.try')}</h2>
      {tool.effect === 'effectful' && <p class="notice">{t('tools.effectful')}</p>}
      <form class="try" onSubmit={(e) => (e.preventDefault(), run())}>
        {fields.map(([name, s]) => <Argument key={name} name={name} schema={s} required={!!tool.schema?.required?.includes(name)} value={values[name] ?? ''} change={(v) => set({ ...values, [name]: v })} />)}
        <p><Button type="submit" tone="main" icon="play" disabled={busy}>{t('tools.run')}</Button></p>
      </form>
      {busy && <Spinner label={t('tools.running')} />}
      <Trouble error={error} />
      {result && (
        <div aria-live="polite">
          {result.failed !== undefined && <p class="notice bad">{result.failed}</p>}
          {result.text !== undefined && <pre class="code result" tabIndex={0}>{result.text}</pre>}
          <p><a href={runPath(result.run)} data-go>{t('talk.details')}</a></p>
        </div>
      )}
    </section>
  );
}

function Argument({ name, schema: s, required, value, change }: { name: string; schema: Schema; required: boolean; value: string; change: (v: string) => void }) {
  const kind = shape(s);
  const typed = (e: { currentTarget: { value: string } }) => change(e.currentTarget.value);
  const must = required && !types(s).includes('null');
  if (kind === 'yes') return <label class="tick"><input type="checkbox" checked={value === 'true'} onChange={(e) => change(String(e.currentTarget.checked))} /> <span><b>{name}</b> {s.description}</span></label>;
  return (
    <label class="field"><span><b>{name}</b>{must && ' *'} {s.description}{kind === 'lines' ? ` (${t('tools.lines')})` : kind === 'json' ? ' (JSON)' : ''}</span>
      {kind === 'choice' ? <select value={value} onChange={typed}>{(!must || !value) && <option value="" />}{s.enum!.map((x) => <option>{String(x)}</option>)}</select>
        : kind === 'number' ? <input type="number" step={types(s).includes('integer') ? 1 : 'any'} value={value} required={must} onInput={typed} />
        : kind === 'text' ? <textarea rows={1} class="grows" value={value} required={must} onInput={typed} />
        : <textarea rows={3} class={kind === 'json' ? 'code' : ''} value={value} required={must && kind === 'lines'} onInput={typed} />}
    </label>
  );
}
