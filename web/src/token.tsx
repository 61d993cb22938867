// What the page shows where the server wants a token.

import { useState } from 'preact/hooks';
import { setToken } from './api';
import { t } from './i18n';
import { Button, Field, typed } from './ui';

/** TokenScreen asks for a token where the server wants one. */
export function TokenScreen({ why, done }: { why: string; done: () => void }) {
  const [text, set] = useState('');
  return (
    <main class="narrow" id="main">
      <h1>{t('token.title')}</h1>
      <p>{why}</p>
      <form class="panel" onSubmit={(e) => (e.preventDefault(), setToken(text), done())}>
        <Field label={t('token.label')}><input type="password" autocomplete="off" value={text} onInput={typed(set)} /></Field>
        <p class="hint">{t('token.hint')}</p>
        <Button type="submit" tone="main" disabled={!text.trim()}>{t('token.use')}</Button>
      </form>
    </main>
  );
}
