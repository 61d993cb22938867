// Settings: of the page, and for the operator what the server calls, who may call it
// and whether everything works.

import { useState } from 'preact/hooks';
import { api, hasToken, me, setToken } from '../api';
import { choose, current, languages, t, type Key, type Language } from '../i18n';
import { chooseTheme, theme, themes } from '../theme';
import { Button, Field, Icon, Spinner, Trouble, useLoaded } from '../ui';
import { Connections } from './connections';
import { Snippets } from './snippets';
import { Tokens } from './tokens';

export function SettingsScreen({ changed }: { changed: () => void }) {
  const who = useLoaded(me, []);
  const operates = !who.value?.user && who.value?.scopes?.includes('admin');
  return (
    <main class="narrow" id="main">
      <h1>{t('settings.title')}</h1>
      <section class="panel">
        <Field label={t('settings.language')}>
          <select value={current()} onChange={(e) => choose(e.currentTarget.value as Language).then(changed, () => location.reload())}>
            {languages.map((l) => <option value={l.code} lang={l.code}>{l.name}</option>)}
          </select>
        </Field>
        <Field label={t('settings.theme')}>
          <select value={theme()} onChange={(e) => (chooseTheme(e.currentTarget.value as any), changed())}>
            {themes.map((x) => <option value={x}>{t(`theme.${x}` as Key)}</option>)}
          </select>
        </Field>
        {hasToken() && <p><Button onClick={() => (setToken(''), location.reload())}>{t('settings.forget')}</Button></p>}
      </section>
      {who.error ? <Trouble error={who.error} again={who.again} /> : !who.value ? <Spinner /> : operates ? <><Connections /><Tokens /><Doctor /></> : <p class="notice"><Icon name="warn" />{t('settings.operator')}</p>}
      <Snippets />
      <p class="hint"><a href="/docs">{t('settings.api')}</a></p>
    </main>
  );
}

function Doctor() {
  const [outside, ask] = useState(false);
  const found = useLoaded(() => api.doctor(!outside, current()), [outside, current()]);
  return (
    <section class="panel" aria-labelledby="doctor">
      <h2 id="doctor">{t('doctor.title')}</h2>
      {found.error ? <Trouble error={found.error} again={found.again} /> : !found.value ? <Spinner label={t('doctor.checking')} /> : (
        <ul class="findings">
          {found.value.map((f) => (
            <li class={f.unset ? 'unset' : f.ok ? 'ok' : f.optional ? 'unset' : 'bad'}>
              <Icon name={f.ok ? 'check' : f.unset ? 'plus' : 'warn'} />
              <div><strong>{f.what}</strong>{f.detail && <span> {f.detail}</span>}{f.hint && !f.ok && <p class="hint">{f.hint}</p>}</div>
            </li>
          ))}
        </ul>
      )}
      {!outside && <p><Button onClick={() => ask(true)}>{t('doctor.engines')}</Button></p>}
    </section>
  );
}

/** Copied is a text with a button that puts it on the clipboard. */
export function Copied({ text, label, children }: { text: string; label: string; children: preact.ComponentChildren }) {
  const [done, set] = useState(false);
  return (
    <div class="copied">
      {children}
      {/* Browsers have a clipboard only for pages that nobody could have changed on the way. */}
      {navigator.clipboard && <Button small aria-label={label} onClick={() => navigator.clipboard.writeText(text).then(() => set(true), () => undefined)}>{done ? t('copy.done') : t('copy.do')}</Button>}
    </div>
  );
}
