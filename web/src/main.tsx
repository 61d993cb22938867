import { render } from 'preact';
import { App } from './app';
import { current, speak } from './i18n';
import { show } from './theme';

const page = document.getElementById('page')!;
const unspoken = {
  en: 'The page could not be loaded. Reload it; if that does not help, look whether the server runs.',
  ru: 'Страница не загрузилась. Обновите её; если не поможет, проверьте, работает ли сервер.',
  zh: '页面未能加载。请刷新；如仍不行，请检查服务器是否在运行。',
};

show();
speak().then(() => render(<App />, page), () => {
  page.className = 'notice bad';
  page.textContent = unspoken[current()];
});
