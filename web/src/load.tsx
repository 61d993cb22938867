// Parts of the page that come when they are first needed, under names that stay.

import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { t } from './i18n';
import { Button, Icon, Spinner } from './ui';

/** later is a screen whose code is loaded when it is first shown. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let Screen: ComponentType<P> | undefined;
  return (props: P) => {
    const [failed, fail] = useState(false);
    const [, redraw] = useState(0);
    useEffect(() => {
      if (!Screen) load().then((s) => ((Screen = s), redraw(1)), () => fail(true));
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
