import '../core';

export { KnowledgeScreen } from '../knowledge';
