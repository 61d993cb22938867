// The last question as other programs would ask it.

import { useState } from 'preact/hooks';
import { api } from '../api';
import { t } from '../i18n';
import { runPath } from '../router';
import { modes } from '../runs';
import { useLoaded } from '../ui';
import { Copied } from './screen';

const kinds: Record<string, (url: string, model: string, question: string, run: string) => string> = {
  curl: (url, model, question) => `curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer $DOSSIER_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: question }] }).replace(/'/g, `'\\''`)}'`,
  Python: (url, model, question) => `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key=os.environ.get("DOSSIER_TOKEN", "none"))
reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": ${JSON.stringify(question)}}],
)
print(reply.choices[0].message.content)`,
  JavaScript: (url, model, question) => `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: process.env.DOSSIER_TOKEN ?? 'none' });
const reply = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: ${JSON.stringify(question)} }],
});
console.log(reply.choices[0].message.content);`,
  SSE: (url, _, __, run) => `curl -N ${url}/api/runs/${run}/events \\
  -H "Authorization: Bearer $DOSSIER_TOKEN"`,
};

export function Snippets() {
  const last = useLoaded((signal) => api.runs({ limit: '20' }, signal), []);
  const [kind, choose] = useState('curl');
  const asked = last.value?.find((r) => modes.includes(r.mode as any));
  const text = kinds[kind](location.origin, asked?.mode ?? 'web_search', asked?.title ?? t('snippet.question'), asked?.id ?? 'RUN');
  return (
    <section class="panel" aria-labelledby="snippets">
      <h2 id="snippets">{t('snippet.title')}</h2>
      <p class="hint">{t('snippet.hint')}</p>
      <fieldset class="chips"><legend class="hidden">{t('snippet.title')}</legend>
        {Object.keys(kinds).map((k) => <label class={'chip' + (k === kind ? ' on' : '')}><input type="radio" name="snippet" value={k} checked={k === kind} onChange={() => choose(k)} />{k}</label>)}
      </fieldset>
      <Copied key={text} text={text} label={t('copy.do')}><pre class="code" tabIndex={0}>{text}</pre></Copied>
      {asked && <p><a href={runPath(asked.id) + '?tab=log'} data-go>{t('snippet.events')}</a></p>}
    </section>
  );
}
