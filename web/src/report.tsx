// The report: what was found out, and for every sentence the passage behind it.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api, download, type Quote, type Report, type ReportSource, type RunRecord } from './api';
import { ended, type Citation } from './events';
import type { State } from './fold';
import { Edited, Editor, parts } from './edit';
import { count, format, t, word, type Key } from './i18n';
import { draw } from './plot';
import { go, runPath } from './router';
import { Markdown } from './prose';
import { Button, Empty, Find, host, Icon, isWeb, Spinner, Tile, Trouble, typed, useAction, useLoaded } from './ui';
import { highlight, sentencesIn } from './uncited';

export function Answer({ id, state, record, again }: { id: string; state: State; record?: RunRecord; again?: () => void }) {
  const message = [...state.messages].reverse().find((m) => m.role === 'assistant');
  const over = ended(state.status);
  const report = useLoaded<Report | null>(async () => (over && message && (message.answer || message.citations.length) ? api.report(id) : null), [id, over, message?.answer]);
  if (!message) return <Writing state={state} />;
  return <Whole id={id} state={state} record={record} report={report.value ?? undefined} message={message} again={again} trouble={report.error} />;
}

/** Writing is the report as it grows. */
function Writing({ state }: { state: State }) {
  if (state.draft) return <article class="report live" aria-live="off"><Markdown text={state.draft} /><i class="caret" aria-hidden="true" /></article>;
  if (state.sections.length) {
    return (
      <article class="report live">
        {state.sections.map((s) => <section>{<h2>{s.title || state.outline[s.index]}</h2>}<Markdown text={s.text} />{!s.whole && <i class="caret" aria-hidden="true" />}</section>)}
      </article>
    );
  }
  if (ended(state.status)) return <Empty title={t('report.none')}>{t('report.none.hint')}</Empty>;
  return <Empty title={t('report.later')}>{t('report.later.hint')}</Empty>;
}

interface Props {
  id: string;
  state: State;
  record?: RunRecord;
  report?: Report;
  message: State['messages'][number];
  again?: () => void;
  trouble?: unknown;
}

function Whole({ id, state, record, report, message, again, trouble }: Props) {
  const [original, showOriginal] = useState(false);
  const [editing, edit] = useState(false);
  const said = original && message.original ? message.original : message;
  const text = said.answer || message.text, citations = said.citations;
  const body = useRef<HTMLElement | null>(null);
  const [headings, setHeadings] = useState<{ id: string; text: string; share: number[] }[]>([]);
  const [bare, setBare] = useState(false);
  const [gaps, setGaps] = useState<Range[]>([]);
  const shown = (root: HTMLElement) => {
    body.current = root;
    const said = citations.length && !message.extractive ? sentencesIn(root) : [];
    const heads = [...root.querySelectorAll('h2')];
    const found = heads.map((h, i) => ({ id: (h.id = 'part-' + i), text: h.textContent ?? '', share: [0, 0] }));
    for (const s of said) {
      const share = found[heads.findLastIndex((h) => h.compareDocumentPosition(s.range.startContainer) & Node.DOCUMENT_POSITION_FOLLOWING)]?.share;
      if (share) share[1]++, (share[0] += +s.cited);
    }
    setHeadings(found);
    setGaps(said.filter((s) => !s.cited).map((s) => s.range));
  };
  useEffect(() => {
    highlight(bare ? gaps : []);
    return () => highlight([]);
  }, [bare, gaps, editing]);
  useEffect(() => {
    if (body.current && !editing) draw(body.current, original ? undefined : report);
  }, [report, text, editing, original]);
  return (
    <div class={'paper' + (headings.length > 2 && !editing ? ' outlined' : '')}>
      {headings.length > 2 && !editing && (
        <nav class="outline" aria-label={t('report.outline')}>
          <strong>{t('report.outline')}</strong>
          <ol>{headings.map((h) => <li><a href={'#' + h.id} onClick={(e) => (e.preventDefault(), document.getElementById(h.id)?.scrollIntoView({ block: 'start' }))}>{h.text}</a>{h.share[1] > 0 && <small title={t('report.share', { covered: h.share[0], total: h.share[1] })}>{h.share[0]}/{h.share[1]}</small>}</li>)}</ol>
        </nav>
      )}
      <div class="sheet">
        <div class="row bar-top">
          <Engine message={message} report={report} />
          {again && ended(state.status) && parts(report).length > 0 && !original && <Button small icon={editing ? 'check' : 'pen'} aria-pressed={editing} onClick={() => edit(!editing)}>{editing ? t('edit.ready') : t('edit.start')}</Button>}
          {!editing && citations.length > 0 && !message.extractive && <label class="tick"><input type="checkbox" checked={bare} onChange={(e) => setBare(e.currentTarget.checked)} /> {t('report.uncited')} <small>{format(gaps.length)}</small></label>}
        </div>
        {report && <Verdict report={report} />}
        {again && !!message.edits && <Edited id={id} edits={message.edits} unchecked={message.unchecked ?? 0} original={original} show={(on) => (edit(false), showOriginal(on))} changed={again} />}
        {editing && report ? <Editor id={id} report={report} changed={again!} /> : <article class={'report' + (message.extractive ? ' quotes' : '')}><Cited id={id} state={state} text={text} citations={citations} report={report} onShown={shown} /></article>}
        {message.points.length > 0 && <section><h2>{t('report.points')}</h2><ul class="points">{message.points.map((p) => <li>{p}</li>)}</ul></section>}
        {message.reasoning && <details class="reasoning"><summary>{t('report.reasoning')}</summary><Markdown text={message.reasoning} /></details>}
        {report?.conflicts && report.conflicts.length > 0 && <Conflicts id={id} report={report} />}
        <Trouble error={trouble} />
        {report?.sources && report.sources.length > 0 && <List id={id} report={report} />}
        {ended(state.status) && <FollowUp state={state} report={report} record={record} />}
        {ended(state.status) && report && <Exports id={id} report={report} status={state.status} />}
      </div>
    </div>
  );
}

/** Cited is a text with its citations: a number opens the passage behind it. */
export function Cited({ id, state, text, citations, report, onShown, class: more }: { id: string; state: State; text: string; citations: Citation[]; report?: Report; onShown?: (root: HTMLElement) => void; class?: string }) {
  const [open, setOpen] = useState<{ button: HTMLElement; number: number; citation?: Citation } | null>(null);
  const [loaded, setLoaded] = useState<Report | undefined>();
  const known = report ?? loaded;
  const cite = (button: HTMLElement) => {
    setOpen({ button, number: Number(button.dataset.number), citation: button.dataset.citation ? citations[Number(button.dataset.citation)] : undefined });
    if (!known) api.report(id).then(setLoaded, () => undefined);
  };
  const shown = (root: HTMLElement) => {
    label(root, state, citations);
    onShown?.(root);
  };
  return (
    <>
      <Markdown text={text} citations={citations} onCite={cite} onShown={shown} class={more} />
      {open && <Popover id={id} open={open} source={known?.sources?.find((s) => s.number === open.number)} state={state} close={() => setOpen(null)} />}
    </>
  );
}

// label says what each number stands for, to those who don't see the popover.
function label(root: HTMLElement, state: State, citations: Citation[]) {
  root.querySelectorAll<HTMLElement>('button.cite').forEach((b) => {
    const n = Number(b.dataset.number);
    const c = b.dataset.citation ? citations[Number(b.dataset.citation)] : undefined;
    const title = c?.title || state.sources.find((s) => s.number === n)?.title || '';
    b.setAttribute('aria-label', t('cite.label', { n, title }));
    b.setAttribute('aria-haspopup', 'dialog');
    if (c?.quote) b.classList.add('verified');
  });
}

function Engine({ message, report }: { message: Props['message']; report?: Report }) {
  if (message.extractive) return <span class="engine none"><i class="dot" aria-hidden="true" />{report?.assisted ? t('engine.quotes') : t('engine.none')}</span>;
  return message.model ? <span class="engine"><i class="dot" aria-hidden="true" />{message.model}</span> : <span />;
}

function Verdict({ report }: { report: Report }) {
  const c = report.coverage;
  const claims = c?.claims, facets = c?.facets;
  return (
    <div class="verdict">
      {report.outcome === 'nothing' && <p class="notice"><Icon name="warn" />{t('report.nothing')}</p>}
      <p>
        {claims && claims.total > 0 && <span class={claims.covered === claims.total ? 'good' : ''}><Icon name="check" />{t('report.claims', { covered: claims.covered, total: claims.total })}</span>}
        {facets && facets.total > 0 && <span>{t('report.facets', { covered: facets.covered, total: facets.total })}</span>}
        {c?.independent ? <span>{count('independent', c.independent)}</span> : null}
      </p>
      {c?.missing && c.missing.length > 0 && <details><summary>{t('report.missing', { n: c.missing.length })}</summary><ul>{c.missing.map((m) => <li>{m}</li>)}</ul></details>}
      {report.notes && report.notes.length > 0 && report.outcome !== 'nothing' && <ul class="notes">{report.notes.map((n) => <li>{n}</li>)}</ul>}
    </div>
  );
}

function Conflicts({ id, report }: { id: string; report: Report }) {
  return (
    <section class="conflicts">
      <h2>{t('report.conflicts')}</h2>
      {report.conflicts!.map((c) => (
        <div class="two">{[c.a, c.b].map((s) => <blockquote><strong>{s.value}</strong><p>{s.quote}</p><a href={passageURL(id, s.passage.source, s.passage)} data-go>{t('cite.source', { n: s.passage.source })}{s.date && ' · ' + s.date}</a></blockquote>)}</div>
      ))}
    </section>
  );
}

function List({ id, report }: { id: string; report: Report }) {
  const [kind, setKind] = useState('');
  const [words, setWords] = useState('');
  const fits = (s: ReportSource) => (!kind || s.kind === kind) && `${s.number} ${s.title} ${s.uri} ${s.author} ${s.date}`.toLowerCase().includes(words.trim().toLowerCase());
  const kinds = [...new Set(report.sources!.map((s) => s.kind))];
  return (
    <section class="sources" aria-labelledby="sources">
      <h2 id="sources">{t('tab.sources')}</h2>
      {kinds.length > 1 && <div class="chips" role="group" aria-label={t('sources.filter')}>{['', ...kinds].map((k) => <button type="button" class={'chip' + (kind === k ? ' on' : '')} aria-pressed={kind === k} onClick={() => setKind(k)}>{k ? word('kind', k) : t('sources.all')}</button>)}</div>}
      {report.sources!.length > 5 && <div class="filters"><Find label={t('sources.words')} change={setWords} /></div>}
      <ol>
        {report.sources!.filter(fits).map((s) => (
          <li value={s.number} id={'source-' + s.number}>
            <Tile of={s.uri} />
            <div>
              <strong><span class="number">{s.number}</span> {s.title || host(s.uri)}</strong>
              <span class="meta"><Where source={s} />{s.author && <span>{s.author}</span>}{s.date && <span>{s.date}</span>}{s.passages && s.passages.length > 0 && <span>{count('passages', s.passages.length)}</span>}
                {s.snapshot && <a href={passageURL(id, s.number, s.passages?.[0]?.passage)} data-go>{t('sources.snapshot')}</a>}</span>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

const Where = ({ source: s }: { source: ReportSource }) => (isWeb(s.uri) ? <a href={s.uri} target="_blank" rel="noopener noreferrer nofollow">{host(s.uri)}</a> : <span>{host(s.uri)}</span>);

export const passageURL = (run: string, n: number, p?: { start: number; end: number }) => `${runPath(run)}/source/${n}${p ? `?at=${p.start}-${p.end}` : ''}`;

function FollowUp({ state, report, record }: { state: State; report?: Report; record?: RunRecord }) {
  const [text, set] = useState('');
  const { busy, error, act } = useAction();
  const ideas = state.followups.length ? state.followups : report?.follow_ups ?? [];
  if (!record) return null;
  const ask = (question: string) =>
    act(async () => {
      const next = await api.start({ mode: record.mode, question, session: record.session, in: record.request?.in });
      go(runPath(next.id));
      scrollTo(0, 0);
    });
  return (
    <section class="followup" aria-labelledby="followup">
      <h2 id="followup">{t('followup.title')}</h2>
      {ideas.length > 0 && <ul>{ideas.map((q) => <li><button type="button" disabled={busy} onClick={() => ask(q)}><span>{q}</span><Icon name="send" /></button></li>)}</ul>}
      <form onSubmit={(e) => (e.preventDefault(), text.trim() && ask(text.trim()))}>
        <label><span class="hidden">{t('followup.label')}</span><input value={text} placeholder={t('followup.label')} onInput={typed(set)} /></label>
        <Button type="submit" tone="main" icon="send" disabled={busy || !text.trim()}>{t('ask.start')}</Button>
      </form>
      <Trouble error={error} />
    </section>
  );
}

function Exports({ id, report, status }: { id: string; report: Report; status: string }) {
  const { busy, error, act } = useAction();
  const formats = [...(report.kind === 'research' && status === 'done' ? ['pdf'] : []), 'docx', 'md', 'html', 'json', 'bib', 'ris'];
  return (
    <section class="exports" aria-labelledby="exports">
      <h2 id="exports">{t('export.title')}</h2>
      <div>
        {formats.map((f) => <Button icon="down" small disabled={busy} onClick={() => act(() => download(api.reportURL(id, f), `${id}.${f}`))}>{t(`export.${f}` as Key)}</Button>)}
        <Button icon="down" small disabled={busy} onClick={() => act(() => download(api.bundleURL(id), `${id}.zip`))}>{t('export.bundle')}</Button>
      </div>
      {busy && <Spinner label={t('export.making')} />}
      <Trouble error={error} />
    </section>
  );
}

/** quoteOf finds the passage that a citation leans on among those of its source. */
export function quoteOf(source: ReportSource | undefined, citation?: Citation): Quote | undefined {
  const list = source?.passages ?? [];
  const said = citation?.quote;
  if (!said) return list.length === 1 ? list[0] : undefined;
  const flat = (x: string) => x.replace(/\s+/g, ' ').trim(); // line breaks of the source are none of a quote
  const words = flat(said);
  return list.find((q) => flat(q.text) === words) ?? list.find((q) => flat(q.text).includes(words)) ?? list.find((q) => words.includes(flat(q.text)));
}

function Popover({ id, open, source, state, close }: { id: string; open: { button: HTMLElement; number: number; citation?: Citation }; source?: ReportSource; state: State; close: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const el = box.current!;
    const at = open.button.getBoundingClientRect();
    el.showPopover();
    const width = el.offsetWidth, height = el.offsetHeight;
    const below = at.bottom + 8 + height < innerHeight;
    el.style.left = Math.max(12, Math.min(at.left - 24, innerWidth - width - 12)) + 'px';
    el.style.top = Math.max(12, below ? at.bottom + 8 : at.top - height - 8) + 'px';
    el.focus();
    const toggled = (e: globalThis.Event) => {
      if ((e as ToggleEvent).newState !== 'closed') return;
      close();
      if (document.activeElement === document.body || el.contains(document.activeElement)) open.button.focus({ preventScroll: true });
    };
    const moved = () => el.hidePopover();
    el.addEventListener('toggle', toggled);
    addEventListener('resize', moved);
    return () => {
      el.removeEventListener('toggle', toggled);
      removeEventListener('resize', moved);
    };
  }, [open]);
  const c = open.citation;
  const quote = quoteOf(source, c);
  const text = c?.quote ?? quote?.text;
  const title = source?.title || c?.title || state.sources.find((s) => s.number === open.number)?.title || c?.url || '';
  const uri = source?.uri ?? c?.url ?? '';
  return (
    <div ref={box} class="popover" popover="auto" role="dialog" tabIndex={-1} aria-label={t('cite.label', { n: open.number, title })}>
      <header><span class="number">{open.number}</span><div><strong>{title}</strong><span class="meta"><span>{host(uri)}</span>{source?.author && <span>{source.author}</span>}{source?.date && <span>{source.date}</span>}</span></div></header>
      {text ? <blockquote lang={quote?.lang}>{text}</blockquote> : <p class="hint">{t('cite.whole')}</p>}
      <footer>
        {text ? <span class="good"><Icon name="check" />{t('cite.verified')}</span> : <span class="hint">{t('cite.unverified')}</span>}
        {source?.snapshot && <a href={passageURL(id, open.number, quote?.passage)} data-go>{t('cite.open')}</a>}
        {isWeb(uri) && <a href={uri} target="_blank" rel="noopener noreferrer nofollow">{t('cite.page')}<Icon name="out" /></a>}
      </footer>
    </div>
  );
}
