// Settings of the page, and the checks of `dossier doctor`.

import { api, hasToken, setToken } from './api';
import { choose, current, languages, t, type Key, type Language } from './i18n';
import { chooseTheme, theme, themes } from './theme';
import { Button, Icon, Spinner, Trouble, useLoaded } from './ui';

export function SettingsScreen({ changed }: { changed: () => void }) {
  return (
    <main class="narrow" id="main">
      <h1>{t('settings.title')}</h1>
      <section class="panel">
        <label class="field"><span>{t('settings.language')}</span>
          <select value={current()} onChange={(e) => choose(e.currentTarget.value as Language).then(changed, () => location.reload())}>
            {languages.map((l) => <option value={l.code} lang={l.code}>{l.name}</option>)}
          </select>
        </label>
        <label class="field"><span>{t('settings.theme')}</span>
          <select value={theme()} onChange={(e) => (chooseTheme(e.currentTarget.value as any), changed())}>
            {themes.map((x) => <option value={x}>{t(`theme.${x}` as Key)}</option>)}
          </select>
        </label>
        {hasToken() && <p><Button onClick={() => (setToken(''), location.reload())}>{t('settings.forget')}</Button></p>}
      </section>
      <Doctor />
      <p class="hint"><a href="/docs">{t('settings.api')}</a></p>
    </main>
  );
}

function Doctor() {
  const found = useLoaded(() => api.doctor(), []);
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
    </section>
  );
}
