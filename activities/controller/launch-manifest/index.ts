export type { ClaimFacts, LaunchInput } from './input.ts';
