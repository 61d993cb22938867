// The report under the pen: its written parts, paragraph by paragraph. What is new in
// one counts as unchecked until it is checked.

import { useEffect, useRef, useState } from 'preact/hooks';
import { request, type Report } from './api';
import { t } from './i18n';
import { Markdown } from './prose';
import { Button, Icon, Trouble, typed, useAction } from './ui';

const post = (id: string, what: string, body?: unknown) => request('POST', `/api/runs/${encodeURIComponent(id)}/report/${what}`, body);

/** parts are the texts of a report that can be changed, under their names for the server. */
export const parts = (r?: Report): { name: string; title: string; text: string }[] =>
  !r ? [] : [
    { name: 'text', title: '', text: r.text ?? '' },
    { name: 'summary', title: t('edit.summary'), text: r.summary ?? '' },
    ...(r.sections ?? []).map((s, i) => ({ name: String(i + 1), title: s.title ?? '', text: s.text ?? '' })),
    { name: 'conclusion', title: t('edit.conclusion'), text: r.conclusion ?? '' },
  ].filter((p) => p.text);

// blocks are the paragraphs of a text; a block of code stays whole.
function blocks(text: string): string[] {
  const out: string[] = [];
  for (const b of text.split(/\n{2,}/)) {
    const open = out.length && (out[out.length - 1].match(/^(```|~~~)/gm)?.length ?? 0) % 2;
    if (open) out[out.length - 1] += '\n\n' + b;
    else if (b.trim()) out.push(b);
  }
  return out;
}

export function Editor({ id, report, changed }: { id: string; report: Report; changed: () => void }) {
  const [at, open] = useState('');
  return (
    <article class="report editor">
      <p class="hint">{t('edit.hint')}</p>
      {parts(report).map((p) => (
        <section>
          {p.title && <h2>{p.title}</h2>}
          {blocks(p.text).map((b, i) => (at === p.name + i
            ? <Block key={at} id={id} part={p.name} text={b} done={(saved) => (open(''), saved && changed())} />
            : <div class="block"><Markdown text={b} /><Button tone="quiet" small icon="pen" aria-label={t('edit.block', { n: i + 1, title: p.title })} onClick={() => open(p.name + i)} /></div>))}
        </section>
      ))}
    </article>
  );
}

function Block({ id, part, text, done }: { id: string; part: string; text: string; done: (saved: boolean) => void }) {
  const { busy, error, act } = useAction();
  const [before] = useState(text); // what others write meanwhile is not to be lost
  const bare = before.replace(/[ \t]*\[\?\]/g, '');
  const [now, set] = useState(bare);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current!.focus(), []);
  const save = async () => (now === bare ? done(false) : (await act(() => post(id, 'edit', { part, before, after: now }))) && done(true));
  return (
    <form class="block open" onSubmit={(e) => (e.preventDefault(), save())}>
      <label><span class="hidden">{t('edit.text')}</span>
        <textarea value={now} ref={box} onInput={typed(set)}
          onKeyDown={(e) => (e.key === 'Escape' ? done(false) : e.key === 'Enter' && (e.ctrlKey || e.metaKey) && (e.preventDefault(), save()))} />
      </label>
      <Trouble error={error} />
      <span class="row"><small class="hint">{t('edit.marks')}</small><span class="row"><Button tone="quiet" small onClick={() => done(false)}>{t('action.cancel')}</Button><Button tone="main" small type="submit" disabled={busy}>{t('edit.save')}</Button></span></span>
    </form>
  );
}

/** Edited says what people changed in a report, and what can be done about it. */
export function Edited({ id, edits, unchecked, original, show, changed }: { id: string; edits: number; unchecked: number; original: boolean; show: (original: boolean) => void; changed: () => void }) {
  const { busy, error, act } = useAction();
  const [checked, setChecked] = useState(false);
  const tell = (what: string) => act(() => post(id, what)).then((ok) => ok && (setChecked(what === 'check'), changed()));
  return (
    <div class="notice edited" role="status">
      <Icon name="pen" />
      <div>
        <p>{t('edit.done', { n: edits })} {unchecked > 0 ? t('edit.unchecked', { n: unchecked }) : checked ? t('edit.checked') : ''}</p>
        <span class="row">
          {unchecked > 0 && <Button small icon="check" disabled={busy} onClick={() => tell('check')}>{t('edit.check')}</Button>}
          <Button small disabled={busy} onClick={() => tell('undo')}>{t('edit.undo')}</Button>
          <Button small tone="quiet" aria-pressed={original} onClick={() => show(!original)}>{original ? t('edit.show') : t('edit.original')}</Button>
        </span>
        <Trouble error={error} />
      </div>
    </div>
  );
}
