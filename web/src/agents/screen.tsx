// Agents: who there is for what somebody wants done, the templates and instances
// that are kept of them, and the tools that they call.

import { useState } from 'preact/hooks';
import { me } from '../api';
import { t, word } from '../i18n';
import { go, runPath } from '../router';
import { Button, Empty, Find, Icon, Spinner, Trouble, typed, useAction, useLoaded } from '../ui';
import { fleet, type Agent } from './api';
import { InstanceScreen, Instances } from './instances';
import { TemplateScreen, Templates } from './templates';
import { ToolScreen, Tools } from './tools';

export function AgentsScreen({ kind, name }: { kind: string; name: string }) {
  const who = useLoaded(me, []);
  const may = (scope: string) => !!who.value?.scopes?.includes(scope);
  const top = kind === 'tools' && !name;
  if (name) {
    return (
      <main class="narrow" id="main" key={name}>
        <a class="back" href={kind === 'tools' ? '/fleet/tools' : '/fleet'} data-go><Icon name="back" />{kind === 'tools' ? t('agents.tools') : t('agents.title')}</a>
        {kind === 'tools' ? <ToolScreen name={name} may={may('tools') && may('run')} /> : kind === 'instances' ? <InstanceScreen id={name} may={may} /> : <TemplateScreen name={name} may={may} />}
      </main>
    );
  }
  return (
    <main class="narrow" id="main">
      <h1>{t('agents.title')}</h1>
      <nav class="tabs" aria-label={t('agents.title')}>
        <a href="/fleet" data-go aria-current={top ? undefined : 'page'}>{t('agents.title')}</a>
        <a href="/fleet/tools" data-go aria-current={top ? 'page' : undefined}>{t('agents.tools')}</a>
      </nav>
      {top ? <Tools /> : <><Directory may={may('run')} /><Templates may={may('agents')} /><Instances may={may('agents')} /></>}
    </main>
  );
}

/** Find is a field to search with. */
export function Search({ label, change }: { label: string; change: (words: string) => void }) {
  return (
    <form class="filters" role="search" onSubmit={(e) => e.preventDefault()}>
      <Find label={label} change={(words) => change(words.trim())} />
    </form>
  );
}

function Directory({ may }: { may: boolean }) {
  const [words, find] = useState('');
  const [all, showAll] = useState(false);
  const found = useLoaded((signal) => fleet.agents(words, signal), [words]);
  const list = found.value ?? [];
  return (
    <section aria-labelledby="directory">
      <h2 id="directory">{t('agents.directory')}</h2>
      <Search label={t('agents.wanted')} change={find} />
      {found.error ? <Trouble error={found.error} again={found.again} /> : !found.value ? <Spinner /> : !list.length ? <Empty title={t('agents.none')}>{t('agents.none.hint')}</Empty> : (
        <ul class="cards">{(all ? list : list.slice(0, 6)).map((a) => <Entry key={a.name} agent={a} may={may} />)}</ul>
      )}
      {!all && list.length > 6 && <p><Button onClick={() => showAll(true)}>{t('agents.all', { n: list.length })}</Button></p>}
    </section>
  );
}

function Entry({ agent: a, may }: { agent: Agent; may: boolean }) {
  return (
    <li>
      <details>
        <summary><strong>{a.name}</strong> <span class="tag">{word('agentkind', a.kind)}</span>{a.description && <p>{a.description}</p>}{a.trouble && <p class="hint bad">{a.trouble}</p>}</summary>
        {a.capabilities && a.capabilities.length > 0 && <p class="hint">{a.capabilities.join(', ')}</p>}
        {a.tools && a.tools.length > 0 && <p class="hint">{t('agents.tools')}: {a.tools.join(', ')}</p>}
        {a.kind === 'template' && <p><a href={templatePath(a.name)} data-go>{t('agents.versions')}</a></p>}
        {may && !a.trouble && a.kind !== 'remote' && <Say to={{ agent: a.name }} />}
      </details>
    </li>
  );
}

/** Say asks an agent or an instance something: the run shows what comes of it. */
export function Say({ to, disabled }: { to: { agent?: string; instance?: string }; disabled?: boolean }) {
  const [text, set] = useState('');
  const { busy, error, act } = useAction();
  return (
    <form class="steer" onSubmit={(e) => (e.preventDefault(), text.trim() && act(async () => go(runPath((await fleet.ask({ mode: 'agent', question: text.trim(), ...to })).id))))}>
      <label><span class="hidden">{t('agents.say')}</span><input value={text} placeholder={t('agents.say')} disabled={disabled} onInput={typed(set)} /></label>
      <Button type="submit" icon="send" disabled={busy || disabled || !text.trim()}>{t('ask.start')}</Button>
      <Trouble error={error} />
    </form>
  );
}

export const templatePath = (name: string) => '/fleet/templates/' + encodeURIComponent(name);
export const instancePath = (id: string) => '/fleet/instances/' + encodeURIComponent(id);
