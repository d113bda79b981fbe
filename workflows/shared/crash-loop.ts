const UNIT_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * KubeVirt's crash-loop back-off: 10 s · n², and up to half of that on top, so that VMs that fail together do not start together; at most 300 s.
 * @param share 0 to 1: how much of that half
 */
export const crashLoopDelayMs = (failures: number, share: number): number => {
  const delay = UNIT_MS * failures * failures;
  return Math.min(delay + Math.floor((delay / 2) * share), LONGEST_MS);
};

/** A number from 0 to 1 that looks drawn and is the same for the same text (FNV-1a, its bits mixed once more). */
export const shareOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 0xffffffff;
};
