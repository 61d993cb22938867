import '../core';

export { SettingsScreen } from '../settings';
