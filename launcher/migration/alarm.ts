/** Lets one sleeper sleep until a time, or until something has happened; what happened while nobody slept is not lost. */
export class Alarm {
  #rung = false;
  #onRing: () => void = () => undefined;

  async sleep(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#onRing = () => (clearTimeout(timer), resolve());
      });
    }
    this.#rung = false;
  }

  ring(): void {
    this.#rung = true;
    this.#onRing();
  }
}
