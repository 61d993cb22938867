import '../core';

export { AgentsScreen } from '../agents/screen';
