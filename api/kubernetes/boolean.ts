/** True for the words that Kubernetes programs take for true in labels and annotations. */
export const isTrue = (text: string | undefined): boolean =>
  ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text ?? '');
