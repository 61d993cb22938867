import '../core';

export { LibraryScreen } from '../library';
