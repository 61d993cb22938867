import '../core';

export { ConversationScreen } from '../conversation';
export { PassageScreen } from '../passage';
export { RunScreen } from '../run';
