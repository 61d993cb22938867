// Tokens by which users are known.

import { useState } from 'preact/hooks';
import { get, request } from '../api';
import { ago, t, word } from '../i18n';
import { Button, Empty, Field, Icon, Spinner, Trouble, typed, useAction, useLoaded } from '../ui';
import { Copied } from './screen';

interface Token {
  id: string;
  user?: string;
  scopes: string[] | null;
  note?: string;
  created: string;
  expires?: string;
  last_used?: string;
  revoked?: string;
}

const scopes = ['read', 'run', 'kb', 'agents', 'tools', 'metrics', 'admin'];

export function Tokens() {
  const list = useLoaded(() => get<Token[]>('/api/tokens'), []);
  const { busy, error, act } = useAction();
  const revoke = async (x: Token) => confirm(t('access.revoke.sure', { name: x.note || x.user || x.id })) && (await act(() => request('DELETE', '/api/tokens/' + encodeURIComponent(x.id)))) && list.again();
  const valid = list.value?.filter((x) => !x.revoked);
  return (
    <section class="panel" aria-labelledby="tokens">
      <h2 id="tokens">{t('access.title')}</h2>
      {list.error ? <Trouble error={list.error} again={list.again} /> : !valid ? <Spinner /> : !valid.length ? <Empty title={t('access.none')} /> : (
        <ul class="findings tokens">
          {valid.map((x) => (
            <li key={x.id}>
              <div class="grow"><strong>{x.user || t('access.operator')}</strong>{x.note && <span> {x.note}</span>}<p class="meta"><span>{x.scopes?.join(', ')}</span><span>{ago(x.created)}</span>{x.expires && <span>{t('access.until', { time: x.expires.slice(0, 10) })}</span>}</p></div>
              <Button small tone="danger" icon="trash" disabled={busy} aria-label={t('access.revoke', { name: x.note || x.user || x.id })} onClick={() => revoke(x)} />
            </li>
          ))}
        </ul>
      )}
      <Trouble error={error} />
      <Make made={list.again} />
    </section>
  );
}

function Make({ made }: { made: () => void }) {
  const [user, setUser] = useState('');
  const [note, setNote] = useState('');
  const [may, setMay] = useState(scopes.slice(0, 2));
  const [text, show] = useState('');
  const { busy, error, act } = useAction();
  const make = () => act(async () => {
    const reply = await (await request('POST', '/api/tokens', { user: user.trim(), note: note.trim(), scopes: may })).json();
    show(reply.token);
    setNote('');
    made();
  });
  return (
    <>
      {text && (
        <div class="notice" role="status"><Icon name="check" /><div class="grow"><p>{t('access.made')}</p><Copied text={text} label={t('access.copy')}><input class="code" readOnly value={text} aria-label={t('token.label')} onFocus={(e) => e.currentTarget.select()} /></Copied></div></div>
      )}
      <details class="more"><summary><Icon name="plus" />{t('access.new')}</summary>
        <form class="fields" onSubmit={(e) => (e.preventDefault(), make())}>
          <Field label={t('access.user')}><input value={user} pattern="[A-Za-z0-9_.@+\-]{1,64}" autocomplete="off" onInput={typed(setUser)} /></Field>
          <fieldset class="chips"><legend>{t('access.scopes')}</legend>
            {scopes.map((s) => <label class={'chip' + (may.includes(s) ? ' on' : '')} title={word('scope', s)}><input type="checkbox" value={s} checked={may.includes(s)} onChange={() => setMay(may.includes(s) ? may.filter((x) => x !== s) : [...may, s])} />{s}</label>)}
          </fieldset>
          <p class="hint">{may.map((s) => word('scope', s)).join('; ')}</p>
          <Field label={t('agents.note')}><input value={note} autocomplete="off" onInput={typed(setNote)} /></Field>
          <Trouble error={error} />
          <p><Button type="submit" tone="main" disabled={busy || !may.length}>{t('access.new')}</Button></p>
        </form>
      </details>
    </>
  );
}
