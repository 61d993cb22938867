// Parts of the page that come when they are first needed, under names that stay.

import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { t } from './i18n';
import { Button, Icon, Spinner } from './ui';

let moved = false;

/** arrive has a keyboard and a screen reader go on in the screen that was gone to, unless they are in it. */
function arrive() {
  const main = document.getElementById('main');
  if (!moved || !main || main.contains(document.activeElement)) return;
  main.tabIndex = -1;
  main.focus({ preventScroll: true });
}

/** useArrival arrives wherever the page goes, which the first address is not. */
export function useArrival(here: string) {
  const last = useRef(here);
  useEffect(() => {
    if (here === last.current) return;
    last.current = here;
    moved = true;
    arrive();
  }, [here]);
}

/** later is a screen whose code is loaded when it is first shown. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let Screen: ComponentType<P> | undefined;
  return (props: P) => {
    const [failed, fail] = useState(false);
    const [, redraw] = useState(0);
    useEffect(() => {
      if (!Screen) load().then((s) => ((Screen = s), redraw(1), requestAnimationFrame(() => document.activeElement === document.body && arrive())), () => fail(true));
    }, []);
    if (Screen) return <Screen {...props} />;
    return <main class="narrow" id="main">{failed ? <Unloaded /> : <Spinner />}</main>;
  };
}

/** Guard keeps what goes wrong in one screen from taking the page with it; another address is another try. */
export function Guard({ at, children }: { at: string; children: ComponentChildren }) {
  const [broken, again] = useErrorBoundary((err) => console.error(err));
  useEffect(again, [at]);
  return broken ? <main class="narrow" id="main"><Unloaded broken /></main> : <>{children}</>;
}

const Unloaded = ({ broken }: { broken?: boolean }) => (
  <div class="notice bad" role="alert">
    <Icon name="warn" />
    <div>{broken ? <p>{t('trouble.shown')}</p> : <><p>{t('trouble.part')}</p><p class="hint">{t('trouble.part.hint')}</p></>}<Button small onClick={() => location.reload()}>{t('trouble.reload')}</Button></div>
  </div>
);
