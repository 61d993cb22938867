// What parts of the page share: all of it is in one file, chunk.js, and each part
// imports this. A module that two parts import and this one doesn't fails the build
// ("two output files share the same path"): then it belongs here.

import './api';
import './i18n';
import './router';
import './runs';
import './theme';
import './ui';
