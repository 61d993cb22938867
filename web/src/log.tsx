// The events themselves, for those who build on them.

import { useMemo, useState } from 'preact/hooks';
import type { Event } from './events';
import { format, t } from './i18n';
import { Button, Empty, typed } from './ui';

export function Log({ log }: { log: Event[] }) {
  const [kind, setKind] = useState('');
  const [most, setMost] = useState(50);
  if (!log.length) return <Empty title={t('log.none')} />;
  const kinds = [...new Set(log.map((e) => e.kind))].sort();
  const shown = log.filter((e) => !kind || e.kind === kind);
  return (
    <div class="log">
      <label>{t('log.kind')} <select value={kind} onChange={typed(setKind)}><option value="">{t('log.all', { n: format(log.length) })}</option>{kinds.map((k) => <option>{k}</option>)}</select></label>
      <ol>
        {shown.slice(-most).map((e) => <Row key={e.seq} event={e} />)}
      </ol>
      {shown.length > most && <Button onClick={() => setMost(most * 5)}>{t('log.more')}</Button>}
    </div>
  );
}

// An event does not change: its row is made once, and its data when they are looked at.
function Row({ event: e }: { event: Event }) {
  const [open, set] = useState(false);
  return useMemo(() => (
    <li>
      <button type="button" aria-expanded={open} onClick={() => set(!open)}><span>{e.seq}</span> <b>{e.kind}</b> <small>{e.agent}</small></button>
      {open && <pre tabIndex={0}>{JSON.stringify(e.data, null, 2)}</pre>}
    </li>
  ), [e, open]);
}
