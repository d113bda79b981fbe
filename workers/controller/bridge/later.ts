/** What may soon be of no use to anybody: waits a while before it is told. */
export class Later {
  readonly #waiting = new Map<string, { timer: NodeJS.Timeout; vmi: string }>();

  /** In place of what waits under this key. @param vmi uid of whom it is about */
  put(key: string, vmi: string, ms: number, tell: () => void): void {
    this.forget(key);
    const timer = setTimeout(() => {
      this.#waiting.delete(key);
      tell();
    }, ms).unref();
    this.#waiting.set(key, { timer, vmi });
  }

  forget(key: string): void {
    clearTimeout(this.#waiting.get(key)?.timer);
    this.#waiting.delete(key);
  }

  forgetAbout(vmi: string): void {
    for (const [key, waiting] of this.#waiting) if (waiting.vmi === vmi) this.forget(key);
  }

  stop(): void {
    for (const key of [...this.#waiting.keys()]) this.forget(key);
  }
}
