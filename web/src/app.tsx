// The frame around every screen.

import { useEffect, useState } from 'preact/hooks';
import { Refused, request } from './api';
import { AskScreen } from './ask';
import { whole } from './build';
import { t } from './i18n';
import { Guard, later, useArrival } from './load';
import { Keys, screens } from './palette';
import { usePlace } from './router';
import { TokenScreen } from './token';
import { Empty } from './ui';

const screensOf = async () => whole(await import('./screens'));
const RunScreen = later(async () => (await screensOf()).RunScreen);
const PassageScreen = later(async () => (await screensOf()).PassageScreen);
const ConversationScreen = later(async () => (await screensOf()).ConversationScreen);
const LibraryScreen = later(async () => (await screensOf()).LibraryScreen);
const KnowledgeScreen = later(async () => (await screensOf()).KnowledgeScreen);
const AgentsScreen = later(async () => (await screensOf()).AgentsScreen);
const SettingsScreen = later(async () => (await screensOf()).SettingsScreen);

export function App() {
  const place = usePlace();
  const [, redraw] = useState(0);
  const [locked, setLocked] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let late = false; // a reply of before another token was given
    request('GET', '/api/me').then(() => late || setLocked(null), (err) => !late && err instanceof Refused && err.status === 401 && setLocked(err.problem.message));
    return () => void (late = true);
  }, [round]);
  const [screen, id, part, n] = place.path;
  const here = place.path.join('/');
  useArrival(here);
  useEffect(() => {
    const name = screens.find(([at]) => at === (screen ?? ''))?.[1];
    if (screen !== 'run') document.title = (name ? t(name) + ' · ' : '') + 'Dossier';
  }, [screen, id]);
  return (
    <>
      <a class="skip" href="#main">{t('nav.skip')}</a>
      <header class="top">
        <a class="brand" href="/" data-go><img src="/page/icon.svg" alt="" width="26" height="26" />Dossier</a>
        <nav aria-label={t('nav.label')}>
          {screens.map(([at, name]) => <a href={'/' + at} data-go aria-current={(screen ?? '') === at ? 'page' : undefined}>{t(name)}</a>)}
        </nav>
      </header>
      {locked === null && <Keys />}
      <Guard at={here}>
      {locked !== null ? <TokenScreen why={locked} done={() => setRound((r) => r + 1)} />
        : !screen ? <AskScreen key={round} />
        : screen === 'run' && id && part === 'source' ? <PassageScreen key={id + n} run={id} number={Number(n)} at={place.query.get('at') ?? ''} />
        : screen === 'run' && id ? <RunScreen key={id} id={id} />
        : screen === 'talk' ? <ConversationScreen id={id ?? ''} />
        : screen === 'knowledge' ? <KnowledgeScreen name={id ?? ''} />
        : screen === 'library' ? <LibraryScreen />
        : screen === 'fleet' ? <AgentsScreen kind={id ?? ''} name={part ?? ''} />
        : screen === 'settings' ? <SettingsScreen changed={() => redraw((x) => x + 1)} />
        : <main class="narrow" id="main"><Empty title={t('nav.nowhere')} /></main>}
      </Guard>
    </>
  );
}
