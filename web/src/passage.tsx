// A source as it was read, with the quoted passage marked.

import { useEffect, useRef } from 'preact/hooks';
import { api } from './api';
import { t } from './i18n';
import { runPath } from './router';
import { Icon, Spinner, Trouble, host, isWeb, useLoaded } from './ui';

/** around cuts a text before and behind a span of bytes of it. */
export function around(text: string, start: number, end: number): [string, string, string] {
  const bytes = new TextEncoder().encode(text);
  if (!(start >= 0 && end > start && end <= bytes.length)) return [text, '', ''];
  const read = (a: number, b?: number) => new TextDecoder().decode(bytes.subarray(a, b));
  return [read(0, start), read(start, end), read(end)];
}

export function PassageScreen({ run, number, at }: { run: string; number: number; at: string }) {
  const loaded = useLoaded(async () => {
    const report = await api.report(run);
    const source = report.sources?.find((s) => s.number === number);
    if (!source) throw new Error(t('passage.none', { n: number }));
    return { source, text: source.snapshot ? await api.snapshot(run, source.snapshot) : '' };
  }, [run, number]);
  useTitle(loaded.value?.source.title ?? '');
  const mark = useRef<HTMLElement>(null);
  useEffect(() => mark.current?.scrollIntoView({ block: 'center' }), [loaded.value, at]);
  const back = <a class="back" href={runPath(run)} data-go><Icon name="back" />{t('passage.back')}</a>;
  if (!loaded.value) return <main class="narrow" id="main">{back}{loaded.error ? <Trouble error={loaded.error} again={loaded.again} /> : <Spinner />}</main>;
  const { source, text } = loaded.value;
  const [start, end] = at.split('-').map(Number);
  const [before, quoted, after] = around(text, start, end);
  return (
    <main class="narrow passage" id="main">
      {back}
      <h1><span class="number">{source.number}</span> {source.title || host(source.uri)}</h1>
      <p class="meta">
        {isWeb(source.uri) ? <a href={source.uri} target="_blank" rel="noopener noreferrer nofollow">{host(source.uri)}<Icon name="out" /></a> : <span>{source.uri}</span>}
        {source.author && <span>{source.author}</span>}{source.date && <span>{source.date}</span>}
      </p>
      <p class="hint">{t('passage.hint')} {quoted && t('passage.marked')}</p>
      <div class="snapshot" lang={source.lang}>{before}{quoted && <mark ref={mark} tabIndex={-1}>{quoted}</mark>}{after}</div>
    </main>
  );
}

function useTitle(title: string) {
  useEffect(() => {
    document.title = (title ? title.slice(0, 60) + ' · ' : '') + 'Dossier';
  }, [title]);
}
