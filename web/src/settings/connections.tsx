// Models and search engines that the server calls, each with a call to try it.

import { useState } from 'preact/hooks';
import { get, request, type Finding } from '../api';
import { format, t, word } from '../i18n';
import { Button, Icon, Spinner, Trouble, useAction, useLoaded } from '../ui';

interface Connection {
  kind: string;
  name: string;
  roles?: string[];
  model?: string;
  provider?: string;
  endpoint?: string;
  missing?: string;
}

export function Connections() {
  const list = useLoaded(() => get<Connection[]>('/api/connections'), []);
  const all = list.value ?? [];
  const group = (kind: string) => all.filter((c) => c.kind === kind && !c.missing);
  const missing = all.filter((c) => c.missing);
  return (
    <section class="panel" aria-labelledby="connections">
      <h2 id="connections">{t('conn.title')}</h2>
      {list.error ? <Trouble error={list.error} again={list.again} /> : !list.value ? <Spinner /> : (
        <>
          {group('model').length ? <ul class="findings">{group('model').map((c) => <Row key={c.name} connection={c} />)}</ul> : <p class="hint">{t('conn.none')}</p>}
          {group('engine').length ? <ul class="findings">{group('engine').map((c) => <Row key={c.name} connection={c} />)}</ul> : <p class="hint">{t('conn.engines.none')}</p>}
          {missing.length > 0 && <details class="more"><summary>{t('conn.more', { n: format(missing.length) })}</summary><ul class="findings">{missing.map((c) => <li class="unset"><Icon name="plus" /><div><strong>{c.name}</strong> <span class="hint">{c.missing}</span></div></li>)}</ul></details>}
        </>
      )}
    </section>
  );
}

function Row({ connection: c }: { connection: Connection }) {
  const [found, show] = useState<(Finding & { code?: string; took?: number }) | null>(null);
  const { busy, error, act } = useAction();
  const test = () => act(async () => {
    show(null);
    show(await (await request('POST', '/api/connections/test', { kind: c.kind, name: c.name })).json());
  });
  const name = c.model || c.name;
  // Why a call failed is said in the language of the page where it is known.
  const hint = found && !found.ok ? word('why', found.code ?? '') : '';
  return (
    <li class={found ? (found.ok ? 'ok' : 'bad') : 'unset'}>
      <Icon name={found ? (found.ok ? 'check' : 'warn') : c.kind === 'engine' ? 'search' : 'pen'} />
      <div class="grow">
        <div class="row"><div><strong>{name}</strong>{c.roles && <p class="meta"><span>{[c.provider, c.endpoint].filter(Boolean).join(' · ')}</span><span>{c.roles.join(', ')}</span></p>}</div>
          <Button small disabled={busy} aria-label={t('conn.test.of', { name })} onClick={test}>{t('conn.test')}</Button></div>
        {busy && <Spinner label={t('conn.testing')} />}
        <Trouble error={error} />
        {found && <div role="status">{found.ok ? <p><span class="good">{t('conn.ok', { ms: format((found.took ?? 0) / 1e6) })}</span> {found.detail}</p> : <><p>{hint && hint !== found.code ? hint : found.hint}</p><p class="hint">{found.detail}</p></>}</div>}
      </div>
    </li>
  );
}
