import { render } from 'preact';
import { App } from './app';
import { show } from './theme';

show();
render(<App />, document.getElementById('page')!);
