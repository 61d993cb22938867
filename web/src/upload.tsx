// Files and folders on their way into a collection: sent one after the other, then
// read by a run. It goes on when the screen is left.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Refused, api } from './api';
import { current, format, t, word } from './i18n';
import { kb, put } from './kb';
import { follow } from './stream';
import { Button, Icon, Trouble } from './ui';

interface Item {
  path: string;
  file: File;
  state: 'waits' | 'sending' | 'stored' | 'read' | 'failed' | 'refused';
  why?: string;
}

interface Upload {
  items: Item[];
  left: number; // files that are left out
  share: number; // of the one that is being sent
  reading?: { done: number; total: number; note: string };
  busy: boolean;
  error?: unknown;
}

const uploads = new Map<string, Upload>();
const watchers = new Set<() => void>();
const changed = () => watchers.forEach((w) => w());
const of = (name: string): Upload => {
  let u = uploads.get(name);
  if (!u) uploads.set(name, (u = { items: [], left: 0, share: 0, busy: false }));
  return u;
};

addEventListener('beforeunload', (e) => [...uploads.values()].some((u) => u.items.some((i) => i.state === 'waits' || i.state === 'sending')) && e.preventDefault());

const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));
const hidden = (path: string) => path.split('/').some((p) => p.startsWith('.') || p === 'node_modules');

/** send puts files into a collection and has them read. */
async function send(name: string, given: { path: string; file: File }[], most: number) {
  const u = of(name);
  if (!u.busy) (u.items = []), (u.left = 0);
  for (const { path, file } of given) {
    if (hidden(path)) u.left++;
    else if (file.size > most) u.items.push({ path, file, state: 'refused', why: t('kb.large', { n: format(most >> 20) }) });
    else u.items.push({ path, file, state: 'waits' });
  }
  changed();
  if (u.busy) return;
  u.busy = true;
  u.error = undefined;
  for (let item; (item = u.items.find((i) => i.state === 'waits')); ) await one(name, u, item);
  u.busy = false;
  if (u.items.some((i) => i.state === 'stored')) await read(name, false);
  changed();
}

// one sends a file; where the server is gone, again for a while.
async function one(name: string, u: Upload, item: Item) {
  item.state = 'sending';
  for (let tries = 0; ; tries++) {
    u.share = 0;
    changed();
    try {
      await put(name, item.path, item.file, (s) => ((u.share = s), changed()));
      item.state = 'stored';
      return;
    } catch (err) {
      const r = err as Refused;
      const later = r.status === 0 || r.status === 429 || r.status === 503;
      if (!later || tries > 6) {
        item.state = 'refused';
        item.why = r.status === 0 ? t('trouble.unreachable') : r.problem.code === 'uploads_full' ? t('kb.full') : r.message;
        return;
      }
    }
    await pause(Math.min(250 * 2 ** tries, 5000));
  }
}

/** read has a collection brought up to date, and follows that. */
export async function read(name: string, again: boolean, id = '') {
  const u = of(name);
  u.error = undefined;
  u.reading = { done: 0, total: 0, note: '' };
  changed();
  try {
    id ||= (await kb.ingest(name, again, current())).id;
    await new Promise<void>((resolve, reject) => {
      let last = 0;
      let why: any;
      follow(id, {
        after: () => last,
        events: (batch) => {
          for (const e of batch) {
            last = Math.max(last, e.seq ?? 0);
            const d = e.data as any;
            if (e.kind === 'progress') u.reading = { done: d?.done ?? 0, total: d?.total ?? 0, note: d?.note ?? '' };
            if (e.kind === 'run.error') why = d;
          }
          changed();
        },
        state: (c) => c === 'over' && (why ? api.record(id).then((r) => reject(new Refused(r.failure ?? why, 500)), reject) : resolve()),
        failed: reject,
      });
    });
    const bad = new Map<string, string>();
    if (u.items.length) {
      for (const d of (await kb.documents(name, { failed: 'true', limit: '200' })).documents ?? []) bad.set(d.path, reason(d.failure!));
    }
    for (const i of u.items) {
      if (i.state !== 'stored') continue;
      i.why = bad.get(i.path);
      i.state = i.why ? 'failed' : 'read';
    }
  } catch (err) {
    u.error = err;
  }
  u.reading = undefined;
  changed();
}

/** reason says why a document could not be read. */
export function reason(f: { reason: string; why: string }): string {
  const key = f.reason.replace(' ', '_');
  const said = word('unread', key);
  return said === key ? f.why : said;
}

// below are the files of a folder that was dropped.
async function below(entry: any): Promise<{ path: string; file: File }[]> {
  if (entry.isFile) return [{ path: entry.fullPath.slice(1), file: await new Promise((ok, no) => entry.file(ok, no)) }];
  const reader = entry.createReader();
  const out = [];
  for (let some: any[]; (some = await new Promise((ok, no) => reader.readEntries(ok, no))).length; ) for (const e of some) out.push(...(await below(e)));
  return out;
}

async function dropped(data: DataTransfer) {
  // All at once: what was dropped is gone when the event is over.
  const items = [...data.items].filter((i) => i.kind === 'file').map((i) => ({ entry: i.webkitGetAsEntry?.(), file: i.getAsFile() }));
  const out = [];
  for (const { entry, file } of items) {
    if (entry) out.push(...(await below(entry)));
    else if (file) out.push({ path: file.name, file });
  }
  return out;
}

/** Drop takes files and folders for a collection, and shows what becomes of them; done hears that they were read. */
export function Drop({ name, most, unread, done }: { name: string; most: number; unread: number; done: () => void }) {
  const [, draw] = useState(0);
  const [over, setOver] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const u = of(name);
  const was = useRef(false);
  useEffect(() => {
    const w = () => {
      draw((n) => n + 1);
      const busy = !!of(name).reading || of(name).busy;
      if (was.current && !busy) done();
      was.current = busy;
    };
    watchers.add(w);
    folder.current!.webkitdirectory = true;
    // A run that reads it already is followed, also after a reload.
    if (!u.reading && !u.busy) api.runs({ mode: 'ingest', limit: '5' }).then((l) => {
      const r = l.find((x) => x.title === name && (x.status === 'running' || x.status === 'queued'));
      if (r && !u.reading) void read(name, false, r.id);
    }, () => {});
    return () => void watchers.delete(w);
  }, [name]);
  const take = (given: { path: string; file: File }[]) => given.length && void send(name, given, most);
  useEffect(() => {
    // Anywhere on the page: what is dropped beside would be shown by the browser in its place.
    const off = new AbortController();
    const on = (kind: 'dragover' | 'dragleave' | 'drop', then: (e: DragEvent) => void) => addEventListener(kind, (e) => e.dataTransfer?.types.includes('Files') && then(e), off);
    on('dragover', (e) => (e.preventDefault(), setOver(true)));
    on('dragleave', (e) => !e.relatedTarget && setOver(false));
    on('drop', (e) => (e.preventDefault(), setOver(false), setError(null), dropped(e.dataTransfer!).then(take, setError)));
    return () => off.abort();
  }, [name, most]);
  const picked = (e: Event) => {
    const input = e.currentTarget as HTMLInputElement;
    take([...input.files!].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    input.value = '';
  };
  const sent = u.items.filter((i) => i.state !== 'waits' && i.state !== 'sending').length;
  const bad = u.items.filter((i) => i.state === 'refused');
  const part = u.reading ? (u.reading.total ? u.reading.done / u.reading.total : 0) : (sent + u.share) / (u.items.length || 1);
  return (
    <section class={'drop' + (over ? ' over' : '')} aria-label={t('kb.drop')}>
      <p><strong>{t('kb.drop')}</strong></p>
      <p class="hint">{t('kb.drop.hint', { n: format(most >> 20) })}</p>
      <div class="controls">
        <Button icon="plus" onClick={() => files.current!.click()}>{t('kb.files')}</Button>
        <Button icon="plus" onClick={() => folder.current!.click()}>{t('kb.folder')}</Button>
      </div>
      <input ref={files} type="file" multiple hidden aria-label={t('kb.files')} onChange={picked} />
      <input ref={folder} type="file" multiple hidden aria-label={t('kb.folder')} onChange={picked} />
      {(u.busy || u.reading) && (
        <div role="status" class="sending">
          <progress max={1} value={part} aria-label={u.reading ? t('kb.reading') : t('kb.sending')} />
          <span class="meta"><span>{u.reading ? t('kb.reading') : t('kb.sending')}</span>
            <span>{u.reading ? u.reading.total > 0 && `${format(u.reading.done)} / ${format(u.reading.total)}` : `${format(sent)} / ${format(u.items.length)}`}</span></span>
        </div>
      )}
      {unread > 0 && !u.busy && !u.reading && <p class="notice"><Icon name="warn" /><span>{t('kb.unread', { n: format(unread) })} <Button small onClick={() => read(name, false)}>{t('kb.read')}</Button></span></p>}
      {error || u.error ? <Trouble error={error || u.error} /> : null}
      {u.left > 0 && <p class="hint">{t('kb.left', { n: format(u.left) })}</p>}
      {u.items.length > 0 && (
        <details class="given" open={u.items.length <= 20}>
          <summary>{t('kb.given', { n: format(u.items.length), bad: format(bad.length + u.items.filter((i) => i.state === 'failed').length) })}</summary>
          <ul>{u.items.slice(0, 500).map((i) => (
            <li class={i.state}><span class="path">{i.path}</span><span class="meta">{word('file', i.state)}{i.state === 'sending' && u.share > 0 && ` ${format(u.share * 100)} %`}</span>{i.why && <span class="hint bad">{i.why}</span>}</li>
          ))}</ul>
          {bad.length > 0 && !u.busy && <Button small onClick={() => take(bad)}>{t('action.again')}</Button>}
        </details>
      )}
    </section>
  );
}
