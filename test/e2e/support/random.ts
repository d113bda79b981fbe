import { createHash } from 'node:crypto';

/** Numbers in [0, 1) that a word decides: the same word gives the same numbers. */
export function randomOf(word: string): () => number {
  let n = 0;
  return () => createHash('sha256').update(`${word} ${n++}`).digest().readUInt32BE() / 2 ** 32;
}
