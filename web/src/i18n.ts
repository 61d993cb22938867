// Words of the page in three languages, of which the chosen one is loaded. The build
// numbers the keys that stand in the sources and leaves those that are computed their
// names; it fails for a key that the catalogue lacks, and for one that nothing says.

import type en from './i18n/en.json';
import { whole } from './build';

export type Key = keyof typeof en;
export type Language = 'en' | 'ru' | 'zh';

const stored = 'dossier.language';

export const languages: { code: Language; name: string }[] = [
  { code: 'en', name: 'English' },
  { code: 'ru', name: 'Русский' },
  { code: 'zh', name: '中文' },
];

function preferred(): Language {
  let asked: string[] = [...navigator.languages];
  try {
    asked = [localStorage.getItem(stored) ?? '', ...asked];
  } catch {
    // then as the browser is set
  }
  for (const l of asked) {
    const code = l.slice(0, 2);
    if (languages.some((l) => l.code === code)) return code as Language;
  }
  return 'en';
}

let language: Language = preferred();
let said: Record<string, string> = {};

export const current = () => language;

/** speak loads the words of a language, and has the page speak it. */
export async function speak(code: Language = language) {
  const reply = await fetch(`/page/${code}.json`);
  const { numbered, named } = whole<{ numbered: string[]; named: Record<string, string> }>(await reply.json());
  said = Object.assign({}, numbered, named);
  document.documentElement.lang = language = code;
}

/** choose speaks a language from now on. */
export async function choose(code: Language) {
  await speak(code);
  try {
    localStorage.setItem(stored, code);
  } catch {
    // for this time
  }
}

/** t says something; {name} in it is replaced. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return (said[key] ?? (console.error('unsaid', key), key)).replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}

/** count says how many of something there are: key.one, key.few, key.many, key.other. */
export function count(key: string, n: number): string {
  const form = new Intl.PluralRules(language).select(n);
  return (said[`${key}.${form}`] ?? said[`${key}.other`] ?? key).replace('{n}', format(n));
}

/** word says one of a set of words, as a status; what has none stays as it is. */
export const word = (set: string, name: string): string => said[`${set}.${name}`] ?? name;

/** brief says in a few words why something elsewhere failed: in English as the server does. */
export const brief = (code: string, message: string): string => (language !== 'en' && said['why.' + code]?.match(/.*?[.。]/)?.[0]) || message || code;

export const format = (n: number, digits = 0) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(n);

export function money(n: number): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency: 'USD', maximumFractionDigits: n < 1 ? 4 : 2 }).format(n);
}

export function ago(time: string | number): string {
  const at = typeof time === 'number' ? time : Date.parse(time);
  if (!at) return '';
  const seconds = Math.round((at - Date.now()) / 1000);
  const f = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const size = Math.abs(seconds);
  if (size < 60) return t('time.now');
  if (size < 3600) return f.format(Math.trunc(seconds / 60), 'minute');
  if (size < 86400) return f.format(Math.trunc(seconds / 3600), 'hour');
  if (size < 86400 * 7) return f.format(Math.trunc(seconds / 86400), 'day');
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(at);
}

export function clock(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor((s % 3600) / 60))}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}
