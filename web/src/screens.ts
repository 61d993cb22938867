// The screens that a first visit does not load: one file, with Markdown and its sanitiser.

import './app'; // what screens share is in one file with it
import './markdown'; // packages of others first: what is alike stays together and compresses better

export { AgentsScreen } from './agents/screen';
export { ConversationScreen } from './conversation';
export { KnowledgeScreen } from './knowledge';
export { LibraryScreen } from './library';
export { PassageScreen } from './passage';
export { RunScreen } from './run';
export { SettingsScreen } from './settings/screen';
