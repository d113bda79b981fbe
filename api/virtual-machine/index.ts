export { toInstance } from './to-instance.ts';
